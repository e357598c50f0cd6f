import type { ComponentChildren, Ref } from 'preact'
import { Icon, type IconName } from './icon.tsx'

/** A button; `label` alone, with an icon, or only for assistive technology where `iconOnly` is set. */
export function Button(props: {
  readonly label: string
  readonly onClick?: (event: MouseEvent) => void
  readonly icon?: IconName
  readonly iconOnly?: boolean
  readonly kind?: 'primary' | 'plain' | 'danger'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  readonly pressed?: boolean
  readonly expanded?: boolean
  readonly shortcut?: string
  readonly buttonRef?: Ref<HTMLButtonElement>
  readonly children?: ComponentChildren
}) {
  const { label, icon, iconOnly = false, kind = 'plain', type = 'button', shortcut, children } = props
  return (
    <button
      ref={props.buttonRef}
      type={type}
      class={`button ${kind} ${iconOnly ? 'icon-only' : ''}`}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      aria-label={iconOnly ? label : undefined}
      aria-keyshortcuts={shortcut}
      title={iconOnly ? label : undefined}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
      {children}
    </button>
  )
}

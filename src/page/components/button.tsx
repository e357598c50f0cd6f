import { Foreign } from './facts.tsx'
import { visibleText } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { useToast } from './toast.tsx'

export type ButtonProps = {
  readonly label: string
  /** What the button is about, where several have the same label: assistive technology reads it, too. */
  readonly of?: string
  readonly onClick?: (event: MouseEvent) => void
  readonly icon?: IconName
  readonly iconOnly?: boolean
  readonly kind?: 'primary' | 'plain' | 'danger'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  /** Why it is disabled. */
  readonly reason?: string
  readonly pressed?: boolean
  readonly expanded?: boolean
  readonly shortcut?: string
}

/** A button; `label` alone, with an icon, or only for assistive technology where `iconOnly` is set. */
export function Button(props: ButtonProps) {
  const { label, of, icon, iconOnly = false, kind = 'plain', type = 'button' } = props
  const name = of === undefined ? label : `${label} ${of}`
  return (
    <button
      type={type}
      class={`button ${kind} ${iconOnly ? 'icon-only' : ''}`}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      aria-label={iconOnly || of !== undefined ? name : undefined}
      aria-keyshortcuts={props.shortcut}
      title={props.reason ?? (iconOnly ? label : undefined)}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
    </button>
  )
}

/** An active filter, which a click removes. */
export function FilterChip(props: {
  readonly name: string
  readonly value: string
  readonly onClear: () => void
}) {
  return (
    <button type="button" class="button filter" onClick={props.onClear}>
      <span class="visually-hidden">Remove the filter </span>
      <span>
        <Foreign text={props.name} />: <Foreign text={props.value} />
      </span>
      <span aria-hidden="true">×</span>
    </button>
  )
}

/** Copies a text; without access to the clipboard, as over plain HTTP from another machine, through a selection. */
export function CopyButton(props: {
  readonly text: string | (() => string)
  readonly label: string
  readonly iconOnly?: boolean
}) {
  const toast = useToast()
  const { label, iconOnly = false } = props
  const copy = async () => {
    const text = typeof props.text === 'string' ? props.text : props.text()
    toast((await copyText(text)) ? 'Copied.' : 'The browser did not allow copying.')
  }
  return <Button label={label} icon="copy" iconOnly={iconOnly} onClick={() => void copy()} />
}

/** The ID of what a view shows, in a line with a button that copies it. */
export function IdLine({ id }: { readonly id: string }) {
  return (
    <p class="stored-id">
      <code>{visibleText(id)}</code>
      <CopyButton text={id} label="Copy the ID" iconOnly />
    </p>
  )
}

/** Saves a text, which is made at the click, as a file. */
export function DownloadButton(props: {
  readonly label: string
  readonly file: () => { readonly name: string; readonly text: string; readonly type: string }
}) {
  const download = () => {
    const { name, text, type } = props.file()
    saveFile(name, new Blob([text], { type }))
  }
  return <Button label={props.label} icon="download" onClick={download} />
}

/** Saves data as a file of this name. */
export function saveFile(name: string, data: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(data)
  link.download = name
  link.click()
  // The download has begun with the click, and has the data.
  URL.revokeObjectURL(link.href)
}

/** Code as it is, with a button that copies it. It can be scrolled with the keyboard. */
export function CodeBlock(props: {
  readonly code: string
  readonly label: string
  /** A shorter text that is shown instead of the code, and not copied. */
  readonly shown?: string
}) {
  const { code, label, shown = code } = props
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{shown}</code>
      </pre>
      <CopyButton text={code} label={`Copy ${label}`} iconOnly />
    </div>
  )
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelection(text)
  }
}

/** `navigator.clipboard` exists in secure contexts only. */
function copySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  // A modal dialog makes everything outside of it inert.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

/** Tabs that the arrow keys move between; only the selected panel is rendered. */
export function Tabs<Id extends string>(props: {
  readonly label: string
  readonly tabs: readonly { readonly id: Id; readonly label: string }[]
  readonly selected: Id
  readonly onSelect: (id: Id) => void
  readonly children: ComponentChildren
}) {
  const base = useId()
  const { tabs, selected, onSelect } = props
  const moveBy = (step: number) => {
    const index = tabs.findIndex(({ id }) => id === selected)
    const next = tabs[(index + step + tabs.length) % tabs.length]
    if (next === undefined || step === 0) return
    onSelect(next.id)
    document.getElementById(`${base}-${next.id}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={props.label} onKeyDown={(event) => moveBy(steps[event.key] ?? 0)}>
        {tabs.map(({ id, label }) => (
          <button
            key={id}
            id={`${base}-${id}`}
            type="button"
            role="tab"
            aria-selected={id === selected}
            aria-controls={`${base}-panel`}
            tabIndex={id === selected ? 0 : -1}
            onClick={() => onSelect(id)}
          >
            {label}
          </button>
        ))}
      </div>
      <div id={`${base}-panel`} role="tabpanel" aria-labelledby={`${base}-${selected}`} tabIndex={0}>
        {props.children}
      </div>
    </div>
  )
}

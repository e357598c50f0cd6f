/** A part of a bar: its share of the whole, from 0 to 1, and its color in the style sheet. */
type BarPart = { readonly kind: string; readonly share: number }

/** A bar that shows how much of a limit something takes. The text says it to assistive technology in full. */
export function Bar(props: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly text: string
  readonly parts: readonly BarPart[]
}) {
  const { label, value, max, text, parts } = props
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.max(0, Math.min(max, value))}
      aria-valuetext={text}
      class="bar"
    >
      {parts.map(
        ({ kind, share }) =>
          share > 0 && <span key={kind} class={kind} style={{ width: `${Math.min(1, share) * 100}%` }} />,
      )}
    </div>
  )
}

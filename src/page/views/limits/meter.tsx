import { formatCount } from '../../components/format.ts'

/** How much of a limit remains, as a bar and in numbers. */
export function Meter(props: {
  readonly label: string
  readonly remaining: number
  readonly limit: number
  readonly note: string
}) {
  const { label, limit, note } = props
  const remaining = Math.max(0, Math.min(limit, props.remaining))
  const share = limit === 0 ? 0 : remaining / limit
  return (
    <div class="meter">
      <div class="meter-labels">
        <span>{label}</span>
        <span class="number">
          <strong>{formatCount(remaining)}</strong> of {formatCount(limit)}
        </span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={remaining}
        aria-valuetext={`${formatCount(remaining)} of ${formatCount(limit)} available`}
        class={share < lowShare ? 'meter-bar low' : 'meter-bar'}
      >
        <span style={{ width: `${share * 100}%` }} />
      </div>
      <p class="hint">{note}</p>
    </div>
  )
}

/** Below this share of a limit, the bar warns. */
const lowShare = 0.1

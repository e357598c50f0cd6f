const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

const formats = { short, clock, day } as const

/** A time in the zone of the reader. `at` is Unix seconds, as in the API, or an ISO 8601 text. */
export function Time(props: { readonly at: number | string; readonly format?: keyof typeof formats }) {
  const date = toDate(props.at)
  if (Number.isNaN(date.getTime())) return <span>–</span>
  return (
    <time dateTime={date.toISOString()} title={full.format(date)} class="number">
      {formats[props.format ?? 'short'].format(date)}
    </time>
  )
}

/** Formats a time in the zone of the reader, as text. */
export function formatTime(at: number | string, format: keyof typeof formats = 'short'): string {
  const date = toDate(at)
  return Number.isNaN(date.getTime()) ? '–' : formats[format].format(date)
}

function toDate(at: number | string): Date {
  return new Date(typeof at === 'number' ? at * 1000 : at)
}

/** Formats a whole number with the separators of the reader: 12,345. */
export function formatCount(count: number): string {
  return countFormat.format(count)
}

/** Formats a large number in short: 12.3K. */
export function formatShort(count: number): string {
  return shortFormat.format(count)
}

/** Formats a duration in milliseconds: 850 ms, 2.4 s, 3 min 5 s. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Formats a number of bytes: 1.5 MB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

const countFormat = new Intl.NumberFormat()
const shortFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

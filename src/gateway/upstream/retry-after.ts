/** Seconds after which the provider wants to be asked again, by its headers; undefined where they do not say. */
export function retryAfterOf(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds / 1000
  const text = headers.get('retry-after') ?? ''
  const seconds = Number.parseFloat(text)
  if (seconds >= 0) return seconds
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}

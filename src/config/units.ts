const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** In milliseconds: a timer cannot be set further ahead than 24 days, and a day is more than any call takes. */
export const maxTimeoutMs = 86_400_000

/** Parses `30s`, `5m`, `24h` or `1.5d`; returns milliseconds, or undefined if it is not a duration above 0. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  const milliseconds = Number(amount) * (millisecondsPerUnit[unit ?? ''] ?? Number.NaN)
  return milliseconds > 0 ? Math.ceil(Math.min(milliseconds, Number.MAX_SAFE_INTEGER)) : undefined
}

/** Returns the milliseconds of a duration that the schema has accepted. */
export function millisecondsOf(duration: string): number {
  const milliseconds = parseDuration(duration)
  if (milliseconds === undefined) throw new RangeError(`“${duration}” is not a duration.`)
  return milliseconds
}

const bytesPerUnit: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
}

/** Parses `32MiB`, `500kB` or a number of bytes; returns bytes, or undefined if it is not a size above 0. */
export function parseSize(size: string | number): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(B|[kMG]B|[KMG]iB)$/.exec(withUnit(size)) ?? []
  const bytes = Number(amount) * (bytesPerUnit[unit ?? ''] ?? Number.NaN)
  return bytes > 0 ? Math.ceil(Math.min(bytes, Number.MAX_SAFE_INTEGER)) : undefined
}

/** Returns the bytes of a size that the schema has accepted. */
export function bytesOf(size: string | number): number {
  const bytes = parseSize(size)
  if (bytes === undefined) throw new RangeError(`“${size}” is not a size.`)
  return bytes
}

function withUnit(size: string | number): string {
  return typeof size === 'number' ? `${size}B` : size
}

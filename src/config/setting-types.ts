import { Type } from 'typebox'

/** Objects in the settings have no unknown fields. */
export const closed = { additionalProperties: false } as const

/**
 * The keywords of a setting: `description` says what it does, `expected` which values it takes, after “must be” in a
 * message, and `examples` holds a value to copy.
 */
type SettingOptions = {
  readonly description: string
  readonly expected?: string
  readonly examples?: readonly unknown[]
}

/** A text that is not empty. */
export function text(options: SettingOptions) {
  return Type.String({ minLength: 1, expected: 'a string', ...options })
}

/** A text above zero with a unit: no setting allows `0s`. */
export function duration(options: SettingOptions) {
  return Type.String({
    pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?(ms|s|m|h|d)$',
    expected: 'a duration such as 30s, 5m, 24h or 30d',
    examples: ['30s'],
    ...options,
  })
}

/** A number of bytes, or a text with a unit. */
export function size(options: SettingOptions) {
  const withUnit = Type.String({ pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?(B|KiB|MiB|GiB|kB|MB|GB)$' })
  return Type.Union([Type.Integer({ minimum: 1 }), withUnit], {
    expected: 'a size such as 32MiB, 500kB or a number of bytes',
    examples: ['32MiB'],
    ...options,
  })
}

/** An address of HTTP or HTTPS. */
export function url(options: SettingOptions) {
  return Type.String({
    pattern: '^https?://[^/\\s]',
    expected: 'a URL that begins with http:// or https://',
    examples: ['http://10.0.0.5:8000/v1'],
    // It may contain a password, so messages do not show it.
    private: true,
    ...options,
  })
}

/** A whole number of at least one. */
export function count(options: SettingOptions) {
  return Type.Integer({ minimum: 1, ...options })
}

/** The URL of a PostgreSQL database. */
export function databaseUrl(options: SettingOptions) {
  return Type.String({
    pattern: '^postgres(ql)?://[^\\s]+/[^/\\s?]+(\\?\\S*)?$',
    expected: 'the URL of a PostgreSQL database, such as postgres://weir:PASSWORD@db.example.com/weir',
    // It contains a password, so messages do not show it.
    private: true,
    ...options,
  })
}

const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

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

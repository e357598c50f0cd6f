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

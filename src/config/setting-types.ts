import { type TOptional, type TSchema, Type } from 'typebox'

/** Objects in the settings have no unknown fields. */
export const closed = { additionalProperties: false } as const

/** Makes each of the properties optional. */
export function optional<Properties extends Readonly<Record<string, TSchema>>>(properties: Properties) {
  const entries = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(entries) as { [Name in keyof Properties]: TOptional<Properties[Name]> }
}

/** A group of optional settings. */
export function group<Properties extends Readonly<Record<string, TSchema>>>(
  description: string,
  properties: Properties,
) {
  return Type.Object(optional(properties), { ...closed, description })
}

// `description` says what a setting does, and an example is a value to copy. `expected` says which values it takes, after
// “must be” in a message.

/** A text that is not empty. */
export function text(description: string, ...examples: readonly unknown[]) {
  return Type.String({ minLength: 1, expected: 'a string', description, ...withExamples(examples) })
}

/** A text above zero with a unit: no setting allows `0s`. */
export function duration(description: string, ...examples: readonly unknown[]) {
  return Type.String({
    pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?(ms|s|m|h|d)$',
    expected: 'a duration such as 30s, 5m, 24h or 30d',
    examples: ['30s'],
    description,
    ...withExamples(examples),
  })
}

/** A number of bytes, or a text with a unit. */
export function size(description: string, ...examples: readonly unknown[]) {
  const withUnit = Type.String({ pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?(B|KiB|MiB|GiB|kB|MB|GB)$' })
  return Type.Union([Type.Integer({ minimum: 1 }), withUnit], {
    expected: 'a size such as 32MiB, 500kB or a number of bytes',
    examples: ['32MiB'],
    description,
    ...withExamples(examples),
  })
}

/** An address of HTTP or HTTPS. */
export function url(description: string, ...examples: readonly unknown[]) {
  return Type.String({
    pattern: '^https?://[^/\\s]',
    expected: 'a URL that begins with http:// or https://',
    examples: ['http://10.0.0.5:8000/v1'],
    // It may contain a password, so messages do not show it.
    private: true,
    description,
    ...withExamples(examples),
  })
}

/** A whole number of at least one. */
export function count(description: string, ...examples: readonly unknown[]) {
  return Type.Integer({ minimum: 1, description, ...withExamples(examples) })
}

/** The URL of a PostgreSQL database. */
export function databaseUrl(description: string, ...examples: readonly unknown[]) {
  return Type.String({
    pattern: '^postgres(ql)?://[^\\s]+/[^/\\s?]+(\\?\\S*)?$',
    expected: 'the URL of a PostgreSQL database, such as postgres://weir:PASSWORD@db.example.com/weir',
    // It contains a password, so messages do not show it.
    private: true,
    description,
    ...withExamples(examples),
  })
}

/** True or false. */
export function flag(description: string, ...examples: readonly boolean[]) {
  return Type.Boolean({ description, ...withExamples(examples) })
}

function withExamples(examples: readonly unknown[]) {
  return examples.length === 0 ? {} : { examples }
}

import { type Static, type TObject, Type } from 'typebox'
import { parseDuration } from '../config/units.ts'
import { badRequest } from '../lib/errors/errors.ts'
import { nullish } from './schema.ts'

/** When a key expires, in the body of a request. */
export const expiryFields = {
  expires_in: nullish(Type.String({ maxLength: 32 }), {
    description: 'How long the API key works from now on, such as `90d` or `24h`.',
  }),
  expires_at: nullish(Type.String({ maxLength: 40 }), {
    description: 'When the API key expires, in ISO 8601, instead of `expires_in`. Null for never.',
  }),
}

type ExpiryInput = Static<TObject<typeof expiryFields>>

/**
 * Returns when a key expires, in milliseconds since 1970: null for never, undefined where the body says nothing. Throws the
 * 400 for a time that is not valid.
 */
export function expiryOf({ expires_in, expires_at }: ExpiryInput, now: number): number | null | undefined {
  if (expires_in != null && expires_at != null)
    throw badRequest('Send either expires_in or expires_at, not both.', 'invalid_value', 'expires_at')
  if (expires_in != null) return now + lifetimeOf(expires_in)
  return expires_at == null ? expires_at : timeOf(expires_at, now)
}

function lifetimeOf(duration: string): number {
  const lifetime = parseLifetime(duration)
  if (lifetime !== undefined) return lifetime
  throw badRequest(
    "Invalid 'expires_in': must be a duration such as 90d or 24h.",
    'invalid_value',
    'expires_in',
  )
}

const isoTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

function timeOf(text: string, now: number): number {
  const time = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (time > now && time <= now + maxLifetimeMs) return time
  throw badRequest(
    "Invalid 'expires_at': must be a time in the future in ISO 8601, such as 2027-01-31T12:00:00Z.",
    'invalid_value',
    'expires_at',
  )
}

/** In milliseconds: a hundred years; a date much later would overflow. */
const maxLifetimeMs = 36_500 * 86_400_000

/** Parses how long a key works, such as `90d`; returns milliseconds, or undefined if it is not a valid lifetime. */
export function parseLifetime(text: string): number | undefined {
  const milliseconds = parseDuration(text)
  return milliseconds !== undefined && milliseconds <= maxLifetimeMs ? milliseconds : undefined
}

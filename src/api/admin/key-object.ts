import { parseDuration } from '../../config/units.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/accounts.ts'

/** Returns a key without its secret, as the admin API returns it, and the command line prints it with `--json`. */
export function keyJson(record: KeyRecord) {
  return {
    id: record.id,
    name: record.name,
    organization: record.organization,
    last4: record.last4,
    created_at: new Date(record.createdAt).toISOString(),
    expires_at: dateOrNull(record.expiresAt),
    revoked_at: dateOrNull(record.revokedAt),
    replaced_by: record.replacedBy,
  }
}

/** Returns a new key with its secret, which is shown only once. */
export function newKeyJson({ record, key }: NewKey) {
  const { id, name, organization, expires_at } = keyJson(record)
  return { id, key: key.reveal(), name, organization, expires_at }
}

/** How long an API key works after it was rotated, unless a request says otherwise. */
export const defaultGrace = '24h'

/** In milliseconds: a hundred years; a date much later would overflow. */
const maxLifetimeMs = 36_500 * 86_400_000

/** Parses how long a key works, such as `90d`; returns milliseconds, or undefined if it is not a valid lifetime. */
export function parseLifetime(text: string): number | undefined {
  const milliseconds = parseDuration(text)
  return milliseconds !== undefined && milliseconds <= maxLifetimeMs ? milliseconds : undefined
}

/** Parses how long a rotated key still works, which may be `0s`. */
export function parseGrace(text: string): number | undefined {
  return /^0(ms|s|m|h|d)$/.test(text) ? 0 : parseLifetime(text)
}

function dateOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

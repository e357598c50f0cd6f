import type { KeyRecord } from '../storage/ports/keys.ts'
import { table } from './output.ts'

/** A key as `--json` prints it. */
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

/** Keys as a table for people. */
export function keyTable(records: readonly KeyRecord[], now: number): string {
  return table(records, [
    { title: 'ID', value: ({ id }) => id },
    { title: 'ENDS IN', value: ({ last4 }) => last4 },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ORGANIZATION', value: ({ organization }) => organization ?? '(deleted)' },
    { title: 'STATE', value: (record) => stateOf(record, now) },
    { title: 'EXPIRES', value: ({ expiresAt }) => dateOrNull(expiresAt) ?? 'never' },
  ])
}

function stateOf({ revokedAt, expiresAt, replacedBy }: KeyRecord, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return replacedBy === null ? 'active' : `replaced by ${replacedBy}`
}

function dateOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

import { eq, gt, isNull, ne, or, sql } from 'drizzle-orm'
import type { KeyChange, KeyRecord } from '../ports/accounts.ts'
import { api_keys } from '../schema/organizations.ts'
import { returning, update } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'
import { keyWithId, lockKey } from './key-records.ts'

/**
 * Part of a transaction: locks a key, after the one that has created it, whose content log must not change meanwhile. Every
 * transaction locks them in this order.
 */
export function* lockWithParent(id: string): Script<KeyRecord> {
  const { parent } = yield* keyWithId(id)
  if (parent !== null) yield* lockKey({ id: parent })
  yield* lockKey({ id })
  return yield* keyWithId(id)
}

/** Part of a transaction: the open keys that a key has created follow its content log; returns those that had another. */
export function* followContentLog(
  parent: string,
  contentLog: boolean,
  now: number,
): Script<readonly KeyRecord[]> {
  const changed: KeyRecord[] = []
  for (const { id } of yield* setFollowing({ parent, contentLog, now })) changed.push(yield* keyWithId(id))
  return changed
}

/** Not those that have ended: there may be any number of them. */
const setFollowing = statement((values: Parameters<{ parent: string; contentLog: boolean; now: number }>) =>
  update(
    api_keys,
    { content_log: values.contentLog },
    returning(
      { id: api_keys.public_id },
      sql`where ${eq(api_keys.parent_id, values.parent)} and ${isNull(api_keys.revoked_at)}
        and ${or(isNull(api_keys.expires_at), gt(api_keys.expires_at, values.now))}
        and ${ne(api_keys.content_log, values.contentLog)}`,
    ),
  ),
)

/** The change of a key; of one that has expired, with the content log of the key that has created it, which may be new. */
export function* caughtUp(key: KeyRecord, change: KeyChange, now: number): Script<KeyChange> {
  const hasExpired = key.expiresAt !== null && key.expiresAt <= now
  if (key.parent === null || !hasExpired || change.contentLog !== undefined) return change
  return { ...change, contentLog: (yield* keyWithId(key.parent)).contentLog }
}

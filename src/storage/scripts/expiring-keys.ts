import { and, eq, isNull, sql } from 'drizzle-orm'
import { expirySoonMs } from '../../lib/near-end.ts'
import { api_keys, organizations } from '../schema/organizations.ts'
import { select, update } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'
import { writeEvent } from './webhook-events.ts'

/** Writes `key.expiring` for some keys that expire soon, each once for its time of expiry; returns their number. */
export function* reportExpiringKeys(now: number): Script<number> {
  const keys = yield* selectExpiring({ now, until: now + expirySoonMs })
  for (const { id, name, expiresAt, organizationId, organization } of keys) {
    const key = { id, name, expires_at: Math.floor((expiresAt ?? 0) / 1000) }
    const data = JSON.stringify({ organization: { id: organizationId, name: organization }, api_key: key })
    yield* writeEvent({ organization: organizationId, type: 'key.expiring', createdAt: now, data })
  }
  yield* setNotified({ ids: keys.map(({ id }) => id) })
  return keys.length
}

/**
 * Not those that were made for a shorter time, that were replaced, or that another key has created for a run: who made them
 * knows that they end.
 */
const selectExpiring = statement(
  (values: Parameters<{ now: number; until: number }>, { forUpdate, skipLocked }) => {
    const { expires_at, created_at, expiry_notified, revoked_at, replaced_by, parent_id } = api_keys
    const owner = and(eq(organizations.id, api_keys.organization_id), isNull(organizations.deletion))
    return select(
      {
        id: api_keys.public_id,
        name: api_keys.name,
        expiresAt: expires_at,
        organizationId: api_keys.organization_id,
        // A join would lock the organization, too.
        organization: sql<string>`(select ${organizations.name} from ${organizations} where ${owner})`,
      },
      sql`from ${api_keys} where ${expires_at} is not null and ${revoked_at} is null
        and ${expires_at} > ${values.now} and ${expires_at} <= ${values.until}
        and ${created_at} <= ${expires_at} - ${sql.raw(String(expirySoonMs))}
        and (${expiry_notified} is null or ${expiry_notified} <> ${expires_at})
        and ${replaced_by} is null and ${parent_id} is null and ${api_keys.enabled}
        and exists (select 1 from ${organizations} where ${owner})
      order by ${expires_at} limit 100 ${forUpdate} ${skipLocked}`,
    )
  },
)

const setNotified = statement(({ ids }: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
  update(
    api_keys,
    { expiry_notified: sql`${api_keys.expires_at}` },
    sql`where ${isOneOf(api_keys.public_id, ids)}`,
  ),
)

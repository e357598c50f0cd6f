import type { Json } from '../../lib/json/json.ts'
import type { ProviderState } from '../ports/provider-state.ts'
import type { Database } from './connection/database.ts'

/** The most rows that one sweep deletes; a sweep is small, because it delays requests. */
export const maxSwept = 500

/** The provider state in the PostgreSQL database. `now` returns milliseconds since 1970. */
export function createProviderState({ query }: Database, now: () => number = Date.now): ProviderState {
  return {
    async store({ organization, callId, provider, value, expiresAt }) {
      await query(store, [organization, callId, provider, JSON.stringify(value), expiresAt])
    },
    async find(organization, provider, callIds) {
      const rows = await query<StateRow>(
        'SELECT call_id, value FROM provider_state ' +
          'WHERE organization_id = $1 AND provider = $2 AND call_id = ANY($3) AND expires_at > $4',
        [organization, provider, callIds, now()],
      )
      return new Map(rows.flatMap(readableState))
    },
    async deleteExpired() {
      const [row] = await query<{ readonly deleted: number }>(deleteExpired, [now()])
      return row?.deleted ?? 0
    },
  }
}

type StateRow = { readonly call_id: string; readonly value: string }

/** Omits a damaged value: a conversation can continue without it. */
function readableState({ call_id, value }: StateRow): readonly [callId: string, value: Json][] {
  try {
    return [[call_id, JSON.parse(value) as Json]]
  } catch {
    return []
  }
}

/** The organization may be deleted while its call runs; the lock keeps a deletion from missing the row. */
const store = `WITH owner AS (SELECT id FROM organizations WHERE id = $1 AND deletion IS NULL FOR SHARE)
  INSERT INTO provider_state (organization_id, call_id, provider, value, expires_at)
  SELECT id, $2, $3, $4, $5 FROM owner
  ON CONFLICT (organization_id, call_id) DO UPDATE
  SET provider = excluded.provider, value = excluded.value, expires_at = excluded.expires_at`

const deleteExpired = `WITH expired AS (
    SELECT organization_id, call_id FROM provider_state WHERE expires_at <= $1 LIMIT ${maxSwept}),
  deleted AS (
    DELETE FROM provider_state s USING expired e
    WHERE s.organization_id = e.organization_id AND s.call_id = e.call_id AND s.expires_at <= $1 RETURNING 1)
  SELECT count(*) deleted FROM deleted`

import { foundStates, type StateRow } from '../common/found-states.ts'
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
    async find(wanted) {
      const { organization, providers, callIds, maxBytes } = wanted
      return foundStates(
        await query<StateRow>(find, [organization, providers, callIds, now(), maxBytes]),
        wanted,
      )
    },
    async deleteExpired() {
      const [row] = await query<{ readonly deleted: number }>(deleteExpired, [now()])
      return row?.deleted ?? 0
    },
  }
}

/** Adds up the sizes from the last call on, and reads only the values that fit. */
const find = `WITH sized AS (
    SELECT s.call_id, sum(octet_length(s.value)) OVER (ORDER BY ids.position DESC) AS bytes
    FROM unnest($3::text[]) WITH ORDINALITY AS ids (call_id, position)
    JOIN provider_state s ON s.organization_id = $1 AND s.call_id = ids.call_id
    WHERE s.provider = ANY($2) AND s.expires_at > $4)
  SELECT sized.call_id AS "callId", s.provider, s.value FROM sized
  LEFT JOIN provider_state s ON s.organization_id = $1 AND s.call_id = sized.call_id AND sized.bytes <= $5`

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

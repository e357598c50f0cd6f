import { and, eq, gt, inArray, lte, sql, type SQL } from 'drizzle-orm'
import type { Json } from '../../lib/json/json.ts'
import { lazy } from '../../lib/lazy.ts'
import type { Database } from './connection/database.ts'
import { organizationExists } from './organizations/organization-row.ts'
import { read } from './sqlite-errors.ts'
import { organizations, provider_state } from './tables.ts'
import type { Writer } from './writer/writer.ts'
import type { ProviderState, NewProviderState } from '../ports/provider-state.ts'

/** The most rows that one sweep deletes; a sweep is small, because it delays requests. */
export const maxSwept = 500

/** The provider state in the SQLite database. `now` returns milliseconds since 1970. */
export function createProviderState(
  database: Database,
  writer: Writer,
  now: () => number = Date.now,
): ProviderState {
  const statements = lazy(() => prepareStatements(database))

  function storeNow({ organization, callId, provider, value, expiresAt }: NewProviderState): void {
    // The organization may be deleted while its call runs; the call must not fail because of that.
    if (statements().owner.get({ organization }) === undefined) return
    statements().store.run({ organization, callId, provider, value, expiresAt })
  }

  return {
    store: (state) => writer.write(() => storeNow(state)),
    find: (organization, provider, callIds) =>
      read(() => {
        const rows = statements().find.all({
          organization,
          provider,
          callIds: JSON.stringify(callIds),
          now: now(),
        })
        return new Map(rows.flatMap(readableState))
      }),
    deleteExpired: () => writer.write(() => statements().sweep.all({ now: now() }).length),
  }
}

type StateRow = { readonly callId: string; readonly value: string }

/** Omits a damaged value: a conversation can continue without it. */
function readableState({ callId, value }: StateRow): readonly [callId: string, value: Json][] {
  try {
    return [[callId, JSON.parse(value) as Json]]
  } catch {
    return []
  }
}

function prepareStatements({ query }: Database) {
  const { placeholder } = sql
  const { organization_id, call_id, provider, value, expires_at } = provider_state
  const owner = query
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(eq(organizations.id, placeholder('organization')), organizationExists))
    .prepare()
  const store = query
    .insert(provider_state)
    .values({
      organization_id: placeholder('organization'),
      call_id: placeholder('callId'),
      provider: placeholder('provider'),
      value: placeholder('value'),
      expires_at: placeholder('expiresAt'),
    })
    .onConflictDoUpdate({
      target: [organization_id, call_id],
      set: { provider: excluded('provider'), value: excluded('value'), expires_at: excluded('expires_at') },
    })
    .prepare()
  const find = query
    .select({ callId: call_id, value: sql<string>`${value}` })
    .from(provider_state)
    .where(
      and(
        eq(organization_id, placeholder('organization')),
        // One parameter for a list of any length, so that one prepared statement is enough.
        inArray(call_id, sql`(select value from json_each(${placeholder('callIds')}))`),
        eq(provider, placeholder('provider')),
        gt(expires_at, placeholder('now')),
      ),
    )
    .prepare()
  return { owner, store, find, sweep: prepareSweep(query) }
}

function prepareSweep(query: Database['query']) {
  const expired = query
    .select({ rowid: sql`rowid` })
    .from(provider_state)
    .where(lte(provider_state.expires_at, sql.placeholder('now')))
    .limit(maxSwept)
  return query
    .delete(provider_state)
    .where(inArray(sql`rowid`, expired))
    .returning({ callId: provider_state.call_id })
    .prepare()
}

function excluded(column: string): SQL {
  return sql.raw(`excluded.${column}`)
}

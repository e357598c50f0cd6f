import { and, eq, gt, inArray, lte, sql, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { lazy } from '../../lib/lazy.ts'
import { foundStates, type StateRow } from '../common/found-states.ts'
import type { Database } from './connection/database.ts'
import { organizationExists } from './organizations/organization-row.ts'
import { read } from './sqlite-errors.ts'
import { organizations } from '../schema/organizations.ts'
import { provider_state } from '../schema/stored.ts'
import type { Writer } from './writer/writer.ts'
import type { NewProviderState, ProviderState, ProviderStateQuery } from '../ports/provider-state.ts'

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

  function findRows({ organization, providers, callIds, maxBytes }: ProviderStateQuery): StateRow[] {
    const lists = { providers: JSON.stringify(providers), callIds: JSON.stringify(callIds) }
    return statements().find.all({ organization, ...lists, now: now(), maxBytes })
  }

  return {
    store: (state) => writer.write(() => storeNow(state)),
    find: async (wanted) => foundStates(await read(() => findRows(wanted)), wanted),
    deleteExpired: () => writer.write(() => statements().sweep.all({ now: now() }).length),
  }
}

function prepareStatements({ query }: Database) {
  const { placeholder } = sql
  const { organization_id, call_id } = provider_state
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
  return { owner, store, find: prepareFind(query), sweep: prepareSweep(query) }
}

/** Adds up the sizes from the last call on, and reads only the values that fit. */
function prepareFind(query: Database['query']) {
  const { placeholder } = sql
  const { organization_id, call_id, provider, value, expires_at } = provider_state
  // One parameter for a list of any length, so that one prepared statement is enough.
  const ids = sql`json_each(${placeholder('callIds')}) ids`
  const bytes = sql<number>`sum(octet_length(${value})) OVER (ORDER BY ids.key DESC)`
  const sized = query
    .select({ callId: call_id, bytes: bytes.as('bytes') })
    .from(ids)
    // A cross join keeps the order: each id is looked up in the index of the table.
    .crossJoin(provider_state)
    .where(
      and(
        eq(call_id, sql`ids.value`),
        eq(organization_id, placeholder('organization')),
        inArray(provider, sql`(select value from json_each(${placeholder('providers')}))`),
        gt(expires_at, placeholder('now')),
      ),
    )
    .as('sized')
  const state = alias(provider_state, 'state')
  return query
    .select({ callId: sized.callId, provider: state.provider, value: sql<string | null>`${state.value}` })
    .from(sized)
    .leftJoin(
      state,
      and(
        eq(state.organization_id, placeholder('organization')),
        eq(state.call_id, sized.callId),
        lte(sized.bytes, placeholder('maxBytes')),
      ),
    )
    .prepare()
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

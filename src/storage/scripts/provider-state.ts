import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Json, parseJson } from '../../lib/json/json.ts'
import type {
  FoundState,
  FoundStates,
  NewProviderState,
  ProviderState,
  ProviderStateQuery,
} from '../ports/provider-state.ts'
import { organizations } from '../schema/organizations.ts'
import { provider_state } from '../schema/stored.ts'
import { bare, nullable, returning, select } from '../sql.ts'
import { type Parameters, type ScriptRunner, statement } from '../statement.ts'
import { exists } from './organizations.ts'

/** The most rows that one sweep deletes; a sweep is small, because it delays requests. */
export const maxSwept = 500

/** The provider state in a database. `now` returns milliseconds since 1970. */
export function createProviderState(
  { read, write }: ScriptRunner,
  now: () => number = Date.now,
): ProviderState {
  return {
    store: async (state) =>
      void (await write(() => storeState({ ...state, value: JSON.stringify(state.value) }))),
    find: async (query) => foundStates(await read(() => findStates({ ...keysOf(query), now: now() })), query),
    deleteExpired: async () => (await write(() => deleteExpired({ now: now() }))).length,
  }
}

/** The organization may be deleted while its call runs: then nothing is stored. */
const storeState = statement(
  (values: Parameters<Omit<NewProviderState, 'value'> & { value: string }>, { forShare }) => {
    const { organization_id, call_id, provider, value, expires_at } = provider_state
    const changed = [provider, value, expires_at]
    const columns = [organization_id, call_id, ...changed].map(bare)
    return sql`insert into ${provider_state} (${sql.join(columns, sql`, `)})
    select ${organizations.id}, ${values.callId}, ${values.provider}, ${values.value}, ${values.expiresAt}
    from ${organizations} where ${organizations.id} = ${values.organization} and ${exists} ${forShare}
    on conflict (${bare(organization_id)}, ${bare(call_id)}) do update
    set ${sql.join(
      changed.map((column) => sql`${bare(column)} = excluded.${bare(column)}`),
      sql`, `,
    )}`
  },
)

type FoundKeys = Pick<ProviderStateQuery, 'organization' | 'providers' | 'callIds' | 'maxBytes'> & {
  readonly now: number
}

function keysOf({ organization, providers, callIds, maxBytes }: ProviderStateQuery): Omit<FoundKeys, 'now'> {
  return { organization, providers, callIds, maxBytes }
}

const state = alias(provider_state, 'state')

/** Adds up the sizes from the last call on, and reads only the values that fit. */
const findStates = statement((values: Parameters<FoundKeys>, { isOneOf, rowsOf }) => {
  const { organization_id, call_id, provider, value, expires_at } = provider_state
  // A cross join keeps the order in SQLite: each id is looked up in the index of the table.
  const sized = sql`
    select ${call_id} as call_id, sum(octet_length(${value})) over (order by ids.key desc) as bytes
    from ${rowsOf(values.callIds, 'ids')} cross join ${provider_state}
    where ${call_id} = ids.value and ${organization_id} = ${values.organization}
      and ${isOneOf(provider, values.providers)} and ${expires_at} > ${values.now}`
  return select(
    {
      callId: sql<string>`sized.call_id`,
      provider: nullable(state.provider),
      value: sql<string | null>`${state.value}`,
    },
    sql`from (${sized}) as sized left join ${provider_state} as state
      on ${state.organization_id} = ${values.organization} and ${state.call_id} = sized.call_id
      and sized.bytes <= ${values.maxBytes}`,
  )
})

const deleteExpired = statement((values: Parameters<{ now: number }>) => {
  const { organization_id, call_id, expires_at } = provider_state
  const key = sql`${organization_id}, ${call_id}`
  return returning(
    { id: call_id },
    sql`delete from ${provider_state} where ${expires_at} <= ${values.now} and (${key}) in (
      select ${key} from ${provider_state} where ${expires_at} <= ${values.now} limit ${sql.raw(String(maxSwept))})`,
  )
})

/** A row of a query for provider states; null for a state that did not fit into its bytes. */
type StateRow = { readonly callId: string; readonly provider: string | null; readonly value: string | null }

/** The states in these rows. Omits a damaged value: a conversation can continue without it. */
async function foundStates(
  rows: readonly StateRow[],
  { acquireMemory }: Pick<ProviderStateQuery, 'acquireMemory'>,
): Promise<FoundStates> {
  const states = new Map<string, FoundState>()
  let truncated = false
  for (const { callId, provider, value } of rows) {
    if (provider === null || value === null) {
      truncated = true
      continue
    }
    await acquireMemory(value.length)
    const parsed = parseJson(value)
    if (parsed !== undefined) states.set(callId, { provider, value: parsed as Json })
  }
  return { states, truncated }
}

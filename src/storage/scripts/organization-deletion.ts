import { type Column, eq, type SQL, sql, type Table } from 'drizzle-orm'
import { oneStep, stepRows } from '../common/store-limits.ts'
import { budgets, ledger, organizations, projects } from '../schema/organizations.ts'
import { provider_state, response_log, responseBytes, responses } from '../schema/stored.ts'
import { content_log, usage_totals } from '../schema/usage.ts'
import { webhook_events } from '../schema/webhooks.ts'
import { bare, returning, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { deleteCompletionsOf } from './completions.ts'
import { deleteScannedRows, scannedRows } from './scanned-rows.ts'
import { lockTotals } from './usage-expiry.ts'

/** Deletes the data of organizations in small steps, so that other writes wait only for a moment. */
export function createOrganizationDeletions(runner: ScriptRunner) {
  const { read, transact } = runner
  let current: AsyncGenerator<number, void> | undefined

  /**
   * Deletes the rows of an organization whose deletion has begun, and yields the number of deleted rows after each step.
   * At the end its name may be used again. May be interrupted after any step, and continued by any process.
   */
  async function* steps(organization: string): AsyncGenerator<number, void> {
    for (const deleteSome of indexedRows) {
      let deleted: number
      while ((deleted = await transact(() => deleteSome(organization))) > 0) yield deleted
    }
    for (const rows of scannedRows) yield* deleteScannedRows(rows, organization, runner)
    await transact(() => endDeletion(organization))
  }

  return {
    steps,
    /** Does one step for the organizations whose deletion has begun; resolves with 0 if there are none. */
    async continue(): Promise<number> {
      const [begun] = await read(() => selectBegun())
      if (begun === undefined) return 0
      current ??= steps(begun.id)
      const { done } = await current.next().catch((error) => {
        current = undefined
        throw error
      })
      if (done) current = undefined
      return 1
    },
  }
}

const selectBegun = statement(() =>
  select(
    { id: organizations.id },
    sql`from ${organizations} where ${organizations.deletion} = 'begun' order by ${organizations.id} limit 1`,
  ),
)

function* endDeletion(organization: string): Script<void> {
  yield* deleteLimits({ organization })
  yield* setDone({ organization })
}

const deleteLimits = statement((values: Parameters<Owner>, dialect) =>
  dialect.deleteLimits(values.organization),
)

/** A name that no organization can have, so that another one may use the old name. */
const setDone = statement((values: Parameters<{ organization: string }>) =>
  update(
    organizations,
    { deletion: 'done', name: sql`'deleted:' || ${organizations.id}`, balance: 0, reserved: 0 },
    sql`where ${eq(organizations.id, values.organization)} and ${organizations.deletion} = 'begun'`,
  ),
)

/** Deletes some rows of the organization, and returns their number: 0 if none are left. */
type DeleteSome = (organization: string) => Script<number>

/** The tables that have an index on the organization. */
export const indexedRows: readonly DeleteSome[] = [
  deleteCompletionsOf,
  deleteResponsesOf,
  deleteById(content_log, content_log.request_id, sql`octet_length(${content_log.content})`),
  deleteById(provider_state, provider_state.call_id, sql`octet_length(${provider_state.value})`),
  deleteTotalsOf,
  deleteByKey(budgets, [budgets.owner_id, budgets.start]),
  deleteById(ledger, ledger.id, sql`coalesce(octet_length(${ledger.note}), 0)`),
  deleteById(
    webhook_events,
    webhook_events.id,
    sql`octet_length(${webhook_events.data})`,
    byKeyOf(webhook_events),
  ),
  deleteById(projects, projects.id, sql`octet_length(${projects.name})`, byKeyOf(projects)),
]

/** Rows whose keys are one id, beside the organization. */
function deleteById(table: OwnedTable, id: Column, bytes: SQL<number>, owner?: SQL): DeleteSome {
  const [selectSome, deleteSome] = [selectSized(table, id, bytes), deleteIds(table, id, owner)]
  return function* deleteRows(organization) {
    const found = oneStep(yield* selectSome({ organization }))
    if (found.length > 0) yield* deleteSome({ organization, ids: found.map((row) => row.id) })
    return found.length
  }
}

type OwnedTable = Table & { readonly organization_id: Column }
type Owner = { readonly organization: string }

function selectSized(table: OwnedTable, id: Column, bytes: SQL<number>) {
  return statement((values: Parameters<Owner>) =>
    select(
      { id: sql<string>`${id}`, bytes },
      sql`from ${table} where ${eq(table.organization_id, values.organization)} limit ${rowLimit}`,
    ),
  )
}

const rowLimit = sql.raw(String(stepRows))

function deleteIds(table: OwnedTable, id: Column, owner: SQL | Column = table.organization_id) {
  return statement(
    (values: Parameters<Owner & { ids: readonly string[] }>, { isOneOf }) =>
      sql<never>`delete from ${table} where ${isOneOf(id, values.ids)} and ${owner} = ${values.organization}`,
  )
}

/** Deletes the pieces of a log first, because deleting the response would delete them all in one step. */
function* deleteResponsesOf(organization: string): Script<number> {
  const found = oneStep(yield* selectResponses({ organization }))
  if (found.length === 0) return 0
  const ids = found.map(({ id }) => id)
  const pieces = oneStep(yield* selectPieces({ ids }))
  const last = pieces.at(-1)
  if (last) yield* deletePieces({ ids, id: last.id, position: last.position })
  else yield* deleteResponses({ organization, ids })
  return pieces.length || found.length
}

const selectResponses = selectSized(responses, responses.id, responseBytes)
const deleteResponses = deleteIds(responses, responses.id, byKeyOf(responses))

/** The organization of a row, concatenated so that the database does not read all rows of the organization. */
function byKeyOf(table: OwnedTable): SQL {
  return sql`${table.organization_id} || ''`
}

const pieceKey = sql`${response_log.response_id}, ${response_log.position}`

const selectPieces = statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
  select(
    {
      id: response_log.response_id,
      position: response_log.position,
      bytes: sql<number>`octet_length(${response_log.entries})`,
    },
    sql`from ${response_log} where ${isOneOf(response_log.response_id, values.ids)}
      order by ${pieceKey} limit ${rowLimit}`,
  ),
)

const deletePieces = statement(
  (values: Parameters<{ ids: readonly string[]; id: string; position: number }>, { isOneOf }) =>
    sql<never>`delete from ${response_log} where ${isOneOf(response_log.response_id, values.ids)}
      and (${pieceKey}) <= (${values.id}, ${values.position})`,
)

/** No totals are added later, because each step of the roll-up looks for the organization while it has them locked. */
function* deleteTotalsOf(organization: string): Script<number> {
  yield* lockTotals()
  return yield* deleteTotals(organization)
}

const { organization_id, width, start, key_id, api, model, provider } = usage_totals
const deleteTotals = deleteByKey(usage_totals, [organization_id, width, start, key_id, api, model, provider])

/** Rows with keys of several columns. */
function deleteByKey(table: OwnedTable, columns: readonly [Column, ...Column[]]): DeleteSome {
  const key = sql.join(columns.map(bare), sql`, `)
  const deleteRows = statement((values: Parameters<Owner>) =>
    returning(
      { key: columns[0] },
      sql`delete from ${table} where (${key}) in (
        select ${key} from ${table} where ${eq(table.organization_id, values.organization)} limit ${rowLimit})`,
    ),
  )
  return function* deleteSome(organization) {
    return (yield* deleteRows({ organization })).length
  }
}

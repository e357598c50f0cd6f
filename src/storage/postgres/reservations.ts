import { sql } from 'drizzle-orm'
import { openReservations } from '../common/recovery.ts'
import { printBudgets } from '../common/reserved-budgets.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { BudgetLimit, Reservation, ReservationRejection } from '../ports/ledger.ts'
import { processes } from '../schema/cluster.ts'
import { reservations } from '../schema/organizations.ts'
import { reservations as reservationsTable } from '../schema/postgres.ts'
import { budgetCoverage, reservedBudgets, returnedBudgets, toLimits } from './budgets.ts'
import { keepResults, type SettledRow } from './settlement.ts'
import type { Query } from './connection/connections.ts'
import { columnTypesOf, Parameters, type Statement } from './writer/statement.ts'
import { writeParts, type WriteRows } from './writes.ts'

/** A reservation to make, in the same transaction as others. */
export type ReserveJob = {
  readonly kind: 'reserve'
  /** The id of the request. */
  readonly id: string
  readonly organization: string
  readonly row: ReservationRow
  readonly budgets: readonly BudgetLimit[]
  readonly rows: WriteRows
}

type ReservationColumn = keyof typeof reservations.$inferSelect

const columnTypes = columnTypesOf<ReservationColumn>(reservationsTable)

type ReservationRow = Readonly<Record<ReservationColumn, string | number | bigint | boolean | null>>

/** Returns the job that makes a reservation and executes its writes. */
export function toReserveJob(reservation: Reservation, rows: WriteRows, process: string): ReserveJob {
  const { request, amount, prepaid = true, budgets = [], promptCost, promptTokens } = reservation
  const row = {
    request_id: request.id,
    organization_id: request.organization,
    amount: clampToColumn(amount),
    prepaid,
    budgets: printBudgets(budgets),
    prompt_cost: clampToColumn(promptCost),
    prompt_tokens: promptTokens,
    request: JSON.stringify(request),
    process_id: process,
  }
  return { kind: 'reserve', id: request.id, organization: request.organization, row, budgets, rows }
}

/**
 * Returns the statement that makes reservations of locked organizations, in their order, as long as the unreserved part
 * of the balance and the budgets cover them, and executes their writes. Returns a row for each reservation that was made,
 * or that was not because the process is removed; if one of them has budgets, also for those that are not covered.
 */
export function reserveStatement(id: string, jobs: readonly ReserveJob[]): Statement {
  const parameters = new Parameters()
  const form = jobs.some(({ row, budgets }) => budgets.length > 0 || !row.prepaid) ? withBudgets : prepaidOnly
  const table = form.table(parameters, jobs)
  const decided = form.parts(parameters, jobs)
  const parts = [
    `input AS (SELECT * FROM ${table})`,
    // A removal of the process waits for the end of this transaction, and so finds what it has reserved.
    'present AS (SELECT id FROM processes WHERE id IN (SELECT process_id FROM input) FOR KEY SHARE)',
    ...decided,
    ...writeParts(
      parameters,
      jobs.map(({ rows }) => rows),
    ),
    form.results,
    keepResults(parameters, id),
  ]
  return {
    text: `WITH RECURSIVE ${parts.join(',\n')} SELECT ${form.fields} FROM results`,
    values: parameters.values,
  }
}

/** The parts of a statement that depend on whether there are budgets. */
type Form = {
  table(parameters: Parameters, jobs: readonly ReserveJob[]): string
  /** They define `recorded`, the reservations that were made. */
  parts(parameters: Parameters, jobs: readonly ReserveJob[]): readonly string[]
  readonly results: string
  readonly fields: string
}

const names = Object.keys(columnTypes).join()

function recordedWhere(condition: string, returned: string): string {
  return `recorded AS (
      INSERT INTO reservations (${names})
      SELECT ${names} FROM input WHERE process_id IN (SELECT id FROM present) AND request_id IN (
        SELECT q.requests[s.step] FROM steps s JOIN queues q USING (organization_id) WHERE ${condition})
      RETURNING request_id id, organization_id, ${returned})`
}

function reservedOf(recorded: string): string {
  return `reserved_organizations AS (
      UPDATE organizations o SET reserved = reserved + s.amount
      FROM (SELECT organization_id, sum(amount) amount FROM ${recorded} GROUP BY 1) s WHERE o.id = s.organization_id)`
}

/** Decides which reservations the balance covers. */
const coverage: readonly string[] = [
  `queues AS (
    SELECT o.id organization_id, o.balance - o.reserved available,
      array_agg(input.amount ORDER BY n) amounts, array_agg(input.request_id ORDER BY n) requests
    FROM input JOIN organizations o ON o.id = input.organization_id AND o.deletion IS NULL GROUP BY o.id)`,
  // Each step decides on the next reservation of every organization.
  `steps (organization_id, step, available, covered) AS (
    SELECT organization_id, 0, available, false FROM queues
    UNION ALL
    SELECT s.organization_id, s.step + 1,
      s.available - CASE WHEN s.available >= q.amounts[s.step + 1] THEN q.amounts[s.step + 1] ELSE 0 END,
      s.available >= q.amounts[s.step + 1]
    FROM steps s JOIN queues q USING (organization_id) WHERE s.step < cardinality(q.amounts))`,
]

const prepaidOnly: Form = {
  table: (parameters, jobs) =>
    parameters.table(
      'input',
      columnTypes,
      jobs.map(({ row }) => row),
    ),
  parts: () => [...coverage, recordedWhere('s.covered', 'amount'), reservedOf('recorded')],
  results: `results AS (SELECT id, false removed FROM recorded UNION ALL
      SELECT request_id, true FROM input WHERE process_id NOT IN (SELECT id FROM present))`,
  fields: 'id, removed',
}

const withBudgets: Form = {
  table: (parameters, jobs) =>
    parameters.table(
      'input',
      { ...columnTypes, limits: 'text' },
      jobs.map(({ row, budgets }) => ({ ...row, limits: toLimits(budgets) })),
    ),
  parts: (parameters, jobs) => [
    ...budgetCoverage(parameters, jobs),
    recordedWhere('s.refused IS NULL', 'amount, prepaid, budgets'),
    reservedOf('recorded WHERE prepaid'),
    reservedBudgets,
  ],
  results: `results AS (
      SELECT id, false removed, NULL::int refused, NULL::text available FROM recorded
      UNION ALL
      SELECT request_id, true, NULL, NULL FROM input WHERE process_id NOT IN (SELECT id FROM present)
      UNION ALL
      SELECT request_id, false, s.refused, s.available::text
      FROM steps s JOIN queues q USING (organization_id) JOIN input ON request_id = q.requests[s.step]
      WHERE s.refused IS NOT NULL AND process_id IN (SELECT id FROM present))`,
  fields: 'id, removed, refused, available',
}

/** Whether the row is that of a reservation that was made. */
export function isMade(row: SettledRow | undefined): boolean {
  return row !== undefined && !row.removed && typeof row.refused !== 'number'
}

/** Converts the row of a reservation that was not made; undefined if it does not say what was too low. */
export function toRejection(
  { budgets }: ReserveJob,
  row: SettledRow | undefined,
): ReservationRejection | undefined {
  if (typeof row?.refused !== 'number') return undefined
  return { budget: budgets[row.refused - 1] ?? null, available: BigInt(row.available ?? 0) }
}

/** Reads reservations of processes that are gone. */
export const selectAbandoned = openReservations(
  sql`not exists (select from ${processes} where ${processes.id} = ${reservations.process_id})`,
)

/** Deletes reservations whose callers were rejected, and what was stored with them. */
export async function releaseReservations(query: Query, jobs: readonly ReserveJob[]): Promise<void> {
  const organizations = [...new Set(jobs.map(({ organization }) => organization))]
  await query('SELECT id FROM organizations WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE', [
    organizations,
  ])
  await query(
    `WITH released AS (
      DELETE FROM reservations WHERE request_id = ANY($1) RETURNING organization_id, amount, prepaid, budgets),
    ${returnedBudgets}
    UPDATE organizations o SET reserved = reserved - s.amount
    FROM (SELECT organization_id, sum(amount) amount FROM released WHERE prepaid GROUP BY 1) s
    WHERE o.id = s.organization_id`,
    [jobs.map(({ id }) => id)],
  )
  const responses = jobs.flatMap(({ rows }) => rows.responses.map(({ id }) => id))
  await query("DELETE FROM responses WHERE id = ANY($1) AND status = 'queued'", [responses])
}

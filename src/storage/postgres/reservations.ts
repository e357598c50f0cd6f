import { sql } from 'drizzle-orm'
import { openReservationFields } from '../common/recovery.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { Reservation } from '../ports/ledger.ts'
import { processes } from '../schema/cluster.ts'
import { reservations } from '../schema/organizations.ts'
import { reservations as reservationsTable } from '../schema/postgres.ts'
import { runs } from '../schema/stored.ts'
import { select } from '../sql.ts'
import { type Parameters, statement } from '../statement.ts'
import { keepResults } from './settlement.ts'
import type { Query } from './connection/connections.ts'
import { columnTypesOf, Parameters as StatementParameters, type Statement } from './writer/statement.ts'
import { writeParts, type WriteRows } from './writes.ts'

/** A reservation to make, in the same transaction as others. */
export type ReserveJob = {
  readonly kind: 'reserve'
  /** The id of the request. */
  readonly id: string
  readonly organization: string
  readonly row: ReservationRow
  readonly rows: WriteRows
}

type ReservationColumn = keyof typeof reservations.$inferSelect

const columnTypes = columnTypesOf<ReservationColumn>(reservationsTable)

type ReservationRow = Readonly<Record<ReservationColumn, string | number | bigint | boolean | null>>

/** Returns the row of a reservation. */
export function toReservationRow(
  { request, amount, prepaid = true, promptCost, promptTokens }: Reservation,
  process: string,
): ReservationRow {
  return {
    request_id: request.id,
    organization_id: request.organization,
    amount: clampToColumn(amount),
    prepaid,
    budgets: null,
    prompt_cost: clampToColumn(promptCost),
    prompt_tokens: promptTokens,
    request: JSON.stringify(request),
    process_id: process,
  }
}

/**
 * Returns the statement that makes reservations of locked organizations, in their order, as long as the unreserved part
 * of the balance covers them, and executes their writes. Returns a row for each reservation that was made, or that
 * was not because the process is removed.
 */
export function reserveStatement(id: string, jobs: readonly ReserveJob[]): Statement {
  const parameters = new StatementParameters()
  const names = Object.keys(columnTypes).join()
  const table = parameters.table(
    'input',
    columnTypes,
    jobs.map(({ row }) => row),
  )
  const parts = [
    `input AS (SELECT * FROM ${table})`,
    // A removal of the process waits for the end of this transaction, and so finds what it has reserved.
    'present AS (SELECT id FROM processes WHERE id IN (SELECT process_id FROM input) FOR KEY SHARE)',
    ...coverage,
    `recorded AS (
      INSERT INTO reservations (${names})
      SELECT ${names} FROM input WHERE process_id IN (SELECT id FROM present) AND request_id IN (
        SELECT q.requests[s.step] FROM steps s JOIN queues q USING (organization_id) WHERE s.covered)
      RETURNING request_id id, organization_id, amount)`,
    `reserved_organizations AS (
      UPDATE organizations o SET reserved = reserved + s.amount
      FROM (SELECT organization_id, sum(amount) amount FROM recorded GROUP BY 1) s WHERE o.id = s.organization_id)`,
    ...writeParts(
      parameters,
      jobs.map(({ rows }) => rows),
    ),
    `results AS (SELECT id, false removed FROM recorded UNION ALL
      SELECT request_id, true FROM input WHERE process_id NOT IN (SELECT id FROM present))`,
    keepResults(parameters, id),
  ]
  return {
    text: `WITH RECURSIVE ${parts.join(',\n')} SELECT id, removed FROM results`,
    values: parameters.values,
  }
}

/** Decides which reservations are covered. */
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

/**
 * Reads reservations of processes that are gone. That of a background run is left to the process that claims the run.
 */
export const selectAbandoned = statement((values: Parameters<{ after: string; limit: number }>) =>
  select(
    openReservationFields,
    sql`from ${reservations} where ${reservations.request_id} > ${values.after}
      and not exists (select from ${processes} where ${processes.id} = ${reservations.process_id})
      and not exists (select from ${runs} where ${runs.request_id} = ${reservations.request_id})
      order by ${reservations.request_id} limit ${values.limit}`,
  ),
)

/** Deletes reservations whose callers were rejected, and what was stored with them. */
export async function releaseReservations(query: Query, jobs: readonly ReserveJob[]): Promise<void> {
  const organizations = [...new Set(jobs.map(({ organization }) => organization))]
  await query('SELECT id FROM organizations WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE', [
    organizations,
  ])
  await query(
    `WITH released AS (DELETE FROM reservations WHERE request_id = ANY($1) RETURNING organization_id, amount)
    UPDATE organizations o SET reserved = reserved - s.amount
    FROM (SELECT organization_id, sum(amount) amount FROM released GROUP BY 1) s WHERE o.id = s.organization_id`,
    [jobs.map(({ id }) => id)],
  )
  const responses = jobs.flatMap(({ rows }) => rows.responses.map(({ id }) => id))
  await query("DELETE FROM responses WHERE id = ANY($1) AND status = 'queued'", [responses])
}

import { maxNanos } from '../../lib/usd.ts'
import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { Settlement } from '../ports/ledger.ts'
import { type AlertRules, noAlerts } from '../ports/webhooks.ts'
import { usage as usageTable } from '../schema/postgres.ts'
import { type UsageColumn, usageRow, type UsageValue } from '../usage/usage-row.ts'
import { serverTime } from './connection/connections.ts'
import { lowBalances } from './alerts.ts'
import { settledBudgets } from './budgets.ts'
import { columnTypesOf, Parameters, type Statement } from './writer/statement.ts'
import { writeParts, type WriteRows } from './writes.ts'

/** A request to settle, in the same transaction as others. */
export type SettleJob = {
  readonly kind: 'settle'
  /** The id of the request. */
  readonly id: string
  readonly organization: string
  /** Whether the request may have a reservation. */
  readonly reserved: boolean
  /** Whether its reservation may count against budgets, or not be paid from the balance. */
  readonly budgeted: boolean
  /** See `Outcome`. */
  readonly costUnknown: boolean
  readonly usage: UsageRow
  /** The id of its ledger entry, if it is charged. */
  readonly entry: string
  readonly rows: WriteRows
  readonly alerts: AlertRules
}

/** The row of a request in `usage`. */
export type UsageRow = Readonly<Record<UsageColumn, UsageValue>>

const columnTypes = columnTypesOf<UsageColumn>(usageTable)

/** Returns the usage row of a finished request. */
export function toUsageRow(request: RequestMetadata, outcome: Outcome): UsageRow {
  const values = Object.entries(usageRow).map(([name, value]) => [name, value(request, outcome)])
  return Object.fromEntries(values) as UsageRow
}

const names = Object.keys(columnTypes).map((name) => `"${name}"`)

/**
 * Returns the statement that settles requests of a locked organization once, and executes their writes. It charges the
 * full cost, and takes the balance below zero if necessary, but never below what a column holds. Returns a row for each
 * request that was settled; one that is not returned was settled before, or its organization is deleted.
 */
export function settleStatement(id: string, jobs: readonly SettleJob[], now: number): Statement {
  const parameters = new Parameters()
  const table = parameters.table(
    'input',
    columnTypes,
    jobs.map((job) => job.usage),
  )
  const reserved = jobs.filter((job) => job.reserved)
  const charging =
    reserved.length > 0
      ? chargeParts(parameters, reserved, now)
      : ['charges AS (SELECT NULL::text id, 0 charged WHERE false)']
  const parts = [
    `recorded AS (
      INSERT INTO usage (${names.join()})
      SELECT ${names.map((name) => `input.${name}`).join()} FROM ${table}
      JOIN organizations o ON o.id = input.organization_id AND o.deletion IS NULL ORDER BY input.n
      ON CONFLICT DO NOTHING RETURNING id, created_at, coalesce(cost, 0) cost)`,
    // The totals already cover the time of its creation, or are about to.
    `late AS (
      INSERT INTO usage_late (created_at, id)
      SELECT recorded.created_at, recorded.id FROM recorded, usage_rollup
      WHERE recorded.created_at < usage_rollup.fence)`,
    ...charging,
    ...writeParts(
      parameters,
      jobs.map(({ rows }) => rows),
    ),
    `results AS (SELECT recorded.id, coalesce(charges.charged, 0)::text charged
      FROM recorded LEFT JOIN charges ON charges.id = recorded.id)`,
    keepResults(parameters, id),
  ]
  return { text: `WITH ${parts.join(',\n')} SELECT id, charged FROM results`, values: parameters.values }
}

/** Charges in the order of the jobs, so that the sum for an organization stops at the lowest balance that a column holds. */
function chargeParts(parameters: Parameters, jobs: readonly SettleJob[], now: number): readonly string[] {
  const { alerts = noAlerts } = jobs[0] ?? {}
  const released = jobs.some(({ budgeted }) => budgeted)
    ? [releasedWithBudgets(parameters, jobs), ...settledBudgets(parameters, alerts, now)]
    : [releasedPrepaid(parameters, jobs)]
  return [
    ...released,
    `sums AS (
      SELECT released.*, sum(cost) OVER (PARTITION BY organization_id ORDER BY released.n) total,
        o.balance + ${maxNanos} highest
      FROM released JOIN organizations o ON o.id = organization_id)`,
    `charges AS (
      SELECT sums.*, (least(total, highest) - least(total - cost, highest))::bigint charged FROM sums)`,
    ...lowBalances(parameters, alerts, now),
    `charged_organizations AS (
      UPDATE organizations o SET balance = balance - s.charged, reserved = reserved - s.amount
      FROM (SELECT organization_id, sum(charged) charged, sum(amount) amount FROM charges GROUP BY 1) s
      WHERE o.id = s.organization_id)`,
    `entries AS (
      INSERT INTO ledger (id, organization_id, created_at, kind, amount, request_id)
      SELECT entry, organization_id, ${parameters.add(now)}, 'charge', -charged, id FROM charges WHERE charged > 0)`,
  ]
}

function releasedPrepaid(parameters: Parameters, jobs: readonly SettleJob[]): string {
  const table = parameters.table('job', { id: 'text', entry: 'text' }, jobs)
  return `released AS (
      DELETE FROM reservations r USING recorded, ${table} WHERE r.request_id = job.id AND recorded.id = job.id
      RETURNING r.request_id id, r.organization_id, r.amount, recorded.cost, job.entry, job.n)`
}

/** `amount` and `cost` are those of the balance, `counted` and `spent` those of the budgets. */
function releasedWithBudgets(parameters: Parameters, jobs: readonly SettleJob[]): string {
  const types = { id: 'text', entry: 'text', cost_unknown: 'boolean' }
  const rows = jobs.map(({ id, entry, costUnknown }) => ({ id, entry, cost_unknown: costUnknown }))
  return `released AS (
      DELETE FROM reservations r USING recorded, ${parameters.table('job', types, rows)}
      WHERE r.request_id = job.id AND recorded.id = job.id
      RETURNING r.request_id id, r.organization_id, r.budgets, r.amount counted, recorded.cost spent,
        CASE WHEN r.prepaid THEN r.amount ELSE 0 END amount, CASE WHEN r.prepaid THEN recorded.cost ELSE 0 END cost,
        job.cost_unknown, job.entry, job.n)`
}

/** The part of a statement that stores its results, from which the outcome of a lost COMMIT is read. */
export function keepResults(parameters: Parameters, id: string): string {
  return `kept AS (
    INSERT INTO transactions (id, results, created_at)
    SELECT ${parameters.add(id)}, coalesce(json_agg(results), '[]')::text, ${serverTime} FROM results)`
}

/**
 * A row that the statement returns; `removed` is true for a reservation that was not made because the process is removed,
 * and `refused` a number for one that was not covered.
 */
export type SettledRow = {
  readonly id: string
  readonly charged: string
  readonly removed?: boolean
  readonly refused?: number | null
  readonly available?: string | null
}

/** Converts the row of a job; undefined if the statement returned none. */
export function toSettlement(row: SettledRow | undefined): Settlement {
  return row === undefined
    ? { recorded: false, charged: 0n }
    : { recorded: true, charged: BigInt(row.charged) }
}

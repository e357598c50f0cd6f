import { maxNanos } from '../../lib/usd.ts'
import { maxBudgets } from '../common/reserved-budgets.ts'
import type { BudgetLimit } from '../ports/ledger.ts'
import type { AlertRules } from '../ports/webhooks.ts'
import { eventsOf } from './alerts.ts'
import type { Parameters } from './writer/statement.ts'

/** Returns the budgets of a reservation for the column `limits` of `input`: `[["owner", start, "limit"], …]`. */
export function toLimits(budgets: readonly BudgetLimit[]): string {
  return JSON.stringify(budgets.map(({ owner, start, limit }) => [owner, start, String(limit)]))
}

type Counted = { readonly organization: string; readonly budgets: readonly BudgetLimit[] }

/** Returns a table of the budgets of the jobs, each once: the planner knows its size, and so reads them by their key. */
function budgetTable(parameters: Parameters, jobs: readonly Counted[]): string {
  const keys = jobs.flatMap(({ organization, budgets }) =>
    budgets.map(
      ({ owner, start }) => [`${organization} ${owner} ${start}`, { organization, owner, start }] as const,
    ),
  )
  const types = { organization: 'text', owner: 'text', start: 'bigint' }
  return parameters.table('input', types, [...new Map(keys).values()])
}

/**
 * Decides which reservations are covered by the balance, if that pays, and by all of their budgets. Of one that is not,
 * `refused` is 0 for the balance or the position of the budget that is too low, and `available` what is left of it.
 */
export function budgetCoverage(parameters: Parameters, jobs: readonly Counted[]): readonly string[] {
  return [usesOf(budgetTable(parameters, jobs)), ...coverage]
}

function usesOf(table: string): string {
  return `uses AS (
    SELECT b.organization_id, jsonb_object_agg(b.owner_id || ' ' || b.start,
      b.spent + b.reserved + b.held + b.allocated) used
    FROM ${table} JOIN budgets b
      ON b.owner_id = input.owner AND b.start = input.start AND b.organization_id = input.organization
    GROUP BY 1)`
}

const coverage: readonly string[] = [
  `queues AS (
    SELECT o.id organization_id, o.balance - o.reserved available,
      array_agg(input.amount ORDER BY n) amounts, array_agg(input.request_id ORDER BY n) requests,
      array_agg(input.prepaid ORDER BY n) prepaid, array_agg(input.limits::jsonb ORDER BY n) limits
    FROM input JOIN organizations o ON o.id = input.organization_id AND o.deletion IS NULL GROUP BY o.id)`,
  // Each step decides on the next reservation of every organization. The keys of `used` are the budgets.
  `steps (organization_id, step, balance, used, refused, available) AS (
    SELECT q.organization_id, 0, q.available, coalesce(uses.used, '{}'), NULL::int, NULL::numeric
    FROM queues q LEFT JOIN uses USING (organization_id)
    UNION ALL
    SELECT s.organization_id, s.step + 1,
      s.balance - CASE WHEN d.refused IS NULL AND next.prepaid THEN next.amount ELSE 0 END,
      CASE WHEN d.refused IS NULL THEN s.used || coalesce(b.used, '{}') ELSE s.used END,
      d.refused, CASE WHEN d.refused = 0 THEN s.balance ELSE b.available END
    FROM steps s JOIN queues q USING (organization_id)
    CROSS JOIN LATERAL (
      SELECT q.amounts[s.step + 1] amount, q.prepaid[s.step + 1] prepaid, q.limits[s.step + 1] limits) next
    CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(budget, used + next.amount) used,
        min(position) FILTER (WHERE used + next.amount > highest) refused,
        (array_agg(highest - used ORDER BY position) FILTER (WHERE used + next.amount > highest))[1] available
      FROM (
        SELECT budget, coalesce((s.used->>budget)::numeric, 0) used, highest, position
        FROM (
          SELECT (l->>0) || ' ' || (l->>1) budget, (l->>2)::numeric highest, position
          FROM jsonb_array_elements(next.limits) WITH ORDINALITY limits (l, position)) limits) limits) b
    CROSS JOIN LATERAL (
      SELECT CASE WHEN next.prepaid AND s.balance < next.amount THEN 0 ELSE b.refused::int END refused) d
    WHERE s.step < cardinality(q.amounts))`,
]

const ofBudget = 'b.owner_id = s.owner_id AND b.start = s.start AND b.organization_id = s.organization_id'

/** Adds what was recorded to what is reserved of its budgets. */
export const reservedBudgets = `reserved_budgets AS (
    INSERT INTO budgets (owner_id, start, organization_id, reserved)
    SELECT owner_id, start, organization_id, amount FROM (${sumsByBudget('recorded', 'sum(amount) amount')}) s
    ON CONFLICT (owner_id, start) DO UPDATE SET reserved = budgets.reserved + excluded.reserved)`

/** Settles what was released in its budgets, which stop at the highest sum that a column holds. */
export function settledBudgets(
  parameters: Parameters,
  { budgetThresholds }: AlertRules,
  now: number,
): readonly string[] {
  const settled = (sums: string, notified = '') => `settled_budgets AS (
    UPDATE budgets b SET reserved = reserved - s.amount, spent = ${spentNow},
      held = least(b.held + s.held, ${maxNanos})${notified}
    FROM (${sums}) s WHERE ${ofBudget})`
  const sums = sumsByBudget('released', settledSums)
  if (budgetThresholds.length === 0) return [settled(sums)]
  const thresholds = parameters.add(budgetThresholds)
  return [
    `settled_sums AS (${sumsByBudget('released', `${settledSums}, max((l->>2)::bigint) highest`)})`,
    `crossed AS (
      SELECT b.organization_id, b.owner_id, b.start, threshold, s.highest, ${spentNow} spent
      FROM settled_sums s JOIN budgets b ON ${ofBudget}
      JOIN unnest(${thresholds}::int[]) threshold
        ON (threshold > b.notified OR b.spent * 100 < s.highest * threshold)
          AND s.highest > 0 AND ${spentNow} * 100 >= s.highest * threshold)`,
    `crossings AS (${eventsOf(parameters, 'budget.threshold', crossings, now)})`,
    settled('SELECT * FROM settled_sums', notified),
  ]
}

const spentNow = `least(b.spent + s.spent, ${maxNanos})`

const settledSums = `sum(counted) amount, sum(spent) spent,
      sum(CASE WHEN cost_unknown THEN greatest(counted - spent, 0) ELSE 0 END) held`

const crossings = `SELECT organization_id, json_build_object('owner', owner_id, 'start', start, 'threshold', threshold,
      'limit', highest::text, 'spent', spent::text) data FROM crossed`

const notified = `,
      notified = greatest(b.notified, (
        SELECT max(threshold) FROM crossed c WHERE c.owner_id = b.owner_id AND c.start = b.start))`

/** Subtracts what was released from what is reserved of its budgets. */
export const returnedBudgets = `returned_budgets AS (
    UPDATE budgets b SET reserved = reserved - s.amount
    FROM (${sumsByBudget('released', 'sum(amount) amount')}) s WHERE ${ofBudget})`

/**
 * Selects sums over the reservations in a part of the statement, by each of their budgets. Of a series the planner knows
 * the length, and of the elements of an array it does not: it would read the whole table of budgets.
 */
function sumsByBudget(part: string, sums: string): string {
  return `SELECT organization_id, l->>0 owner_id, (l->>1)::bigint start, ${sums}
      FROM ${part}, generate_series(0, ${maxBudgets - 1}) i, LATERAL (SELECT budgets::jsonb -> i) b (l)
      WHERE l IS NOT NULL GROUP BY 1, 2, 3`
}

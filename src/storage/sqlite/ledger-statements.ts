import { sql } from 'drizzle-orm'
import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { timeSortedId } from '../../lib/id.ts'
import { maxNanos, type Nanos } from '../../lib/usd.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { Settlement } from '../ports/ledger.ts'
import { ledger, organizations } from '../schema/organizations.ts'
import { usage } from '../schema/usage.ts'
import { insertContent } from '../scripts/content-log.ts'
import { bare, insertInto } from '../sql.ts'
import { type UsageColumn, usageRow } from '../usage/usage-row.ts'
import type { WriteAlerts } from './alerts.ts'
import type { Amounts } from './amounts.ts'
import type { Database } from './connection/database.ts'
import type { Payment, Reservations } from './reservation-statements.ts'
import { textOf } from './run-script.ts'
import { addInserted } from './usage-totals.ts'

const unrecorded: Settlement = { recorded: false, charged: 0n }
const uncharged: Settlement = { ...unrecorded, recorded: true }

export type Settle = ReturnType<typeof prepareSettle>

/**
 * Part of a transaction: settles a request once, and executes the writes. `reserved` is false if the request has no
 * reservation.
 */
export function prepareSettle(
  database: Database,
  reservations: Reservations,
  alerts: WriteAlerts,
  now: () => number,
) {
  const insertUsage = prepareUsageInsert(database)
  const insertCharge = prepareCharge(database, now)

  return (
    amounts: Amounts,
    request: RequestMetadata,
    outcome: Outcome,
    reserved: boolean,
    writes = () => {},
  ): Settlement => {
    if (!insertUsage(request, outcome)) return unrecorded
    const removed = reserved ? reservations.remove(request) : undefined
    const cost = clampToColumn(outcome.cost ?? 0n)
    const charged = removed?.prepaid ? chargeOf(amounts, request, cost) : 0n
    if (charged > 0n) insertCharge(request, charged)
    writes()
    if (removed !== undefined) give(amounts, request, removed, { cost, charged, outcome }, alerts)
    return removed?.prepaid ? { recorded: true, charged } : uncharged
  }
}

/** The full cost, also if the balance is lower: a negative balance then rejects further requests. Its column has a lowest value. */
function chargeOf(amounts: Amounts, { organization }: RequestMetadata, cost: Nanos): Nanos {
  const max = (amounts.balance(organization)?.balance ?? 0n) + maxNanos
  return cost < max ? cost : max
}

type Costs = { readonly cost: Nanos; readonly charged: Nanos; readonly outcome: Outcome }

/**
 * Charges the balance and the budgets, and returns to them what was reserved. Reads all of them, and writes the events for
 * webhooks, before it changes the first.
 */
function give(
  amounts: Amounts,
  { organization }: RequestMetadata,
  { amount, prepaid, budgets }: Payment,
  { cost, charged, outcome }: Costs,
  alerts: WriteAlerts,
): void {
  const found = amounts.balance(organization)
  const uses = budgets.map((key) => {
    const use = amounts.budget(organization, key)
    const spent = clampToColumn(use.spent + cost)
    return { key, use: { ...use, spent, notified: alerts.spent(organization, key, use, spent) } }
  })
  const held = outcome.costUnknown && amount > cost ? amount - cost : 0n
  if (charged > 0n && found !== undefined) alerts.charged(organization, found.balance, charged)
  if (prepaid && found !== undefined) {
    const { balance, reserved } = found
    amounts.setBalance(organization, { balance: balance - charged, reserved: without(reserved, amount) })
  }
  for (const { key, use } of uses)
    amounts.setBudget(organization, key, {
      ...use,
      reserved: without(use.reserved, amount),
      held: clampToColumn(use.held + held),
    })
}

/** A sum that was damaged must not fail the whole transaction: no column of reserved money may be negative. */
function without(reserved: Nanos, amount: Nanos): Nanos {
  return reserved > amount ? reserved - amount : 0n
}

/** Part of a transaction: inserts the entry of a charge. */
function prepareCharge({ sqlite }: Database, now: () => number) {
  const value = sql`?`
  const insert = sqlite.prepare<unknown, [string, string, number, Nanos, string]>(
    textOf(
      insertInto(ledger, {
        id: value,
        organization_id: value,
        created_at: value,
        kind: sql`'charge'`,
        amount: value,
        request_id: value,
      }),
    ),
  )
  return ({ id, organization }: RequestMetadata, charged: Nanos): void => {
    insert.run(timeSortedId('led_'), organization, now(), -charged, id)
  }
}

/** Part of a transaction: inserts the row of a request, and its content; false if it has one already, or its organization is deleted. */
export function prepareUsageInsert(
  database: Database,
): (request: RequestMetadata, outcome: Outcome) => boolean {
  const values = Object.values(usageRow)
  const names = Object.keys(usageRow) as UsageColumn[]
  const inserted = sql.join(
    names.map((name) => bare(usage[name])),
    sql`, `,
  )
  const parameters = sql.raw(names.map((_, index) => `?${index + 1}`).join())
  const owner = sql.raw(`?${names.indexOf('organization_id') + 1}`)
  // The organization may be deleted while its call runs; the call must not fail because of that.
  const insert = database.sqlite.prepare(
    textOf(sql`insert into ${usage} (${inserted}) select ${parameters} where exists (
      select 1 from ${organizations} where ${organizations.id} = ${owner} and ${organizations.deletion} is null)
      on conflict do nothing`),
  )
  const keepContent = ({ id, createdAt, organization }: RequestMetadata, content: string) =>
    database.run(insertContent({ id, createdAt, organization, content }))
  return (request, outcome) => {
    const isNew = insert.run(...values.map((value) => value(request, outcome))).changes > 0
    if (isNew) addInserted(database, request)
    if (isNew && outcome.content !== undefined) keepContent(request, outcome.content)
    return isNew
  }
}

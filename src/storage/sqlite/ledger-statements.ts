import { sql } from 'drizzle-orm'
import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { timeSortedId } from '../../lib/id.ts'
import { maxNanos, type Nanos } from '../../lib/usd.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { Settlement } from '../ports/ledger.ts'
import { ledger, organizations } from '../schema/organizations.ts'
import { usage } from '../schema/usage.ts'
import { bare, insertInto, select } from '../sql.ts'
import { type UsageColumn, usageRow } from '../usage/usage-row.ts'
import { prepareBudgets } from './budget-statements.ts'
import type { Database } from './connection/database.ts'
import type { Reservations } from './reservation-statements.ts'
import { textOf } from './run-script.ts'
import { prepareTotalsUpkeep } from './usage-totals.ts'

const unrecorded: Settlement = { recorded: false, charged: 0n }
const uncharged: Settlement = { ...unrecorded, recorded: true }

/** Part of a transaction: settles a request once. `reserved` is false if the request has no reservation. */
export type Settle = (request: RequestMetadata, outcome: Outcome, reserved: boolean) => Settlement

export function prepareSettle(database: Database, reservations: Reservations, now: () => number): Settle {
  const insertUsage = prepareUsageInsert(database)
  const charge = prepareCharge(database, now)
  const budgets = prepareBudgets(database)

  return (request, outcome, reserved) => {
    if (!insertUsage(request, outcome)) return unrecorded
    const removed = reserved ? reservations.remove(request.id) : undefined
    if (removed === undefined) return uncharged
    const { amount, prepaid, budgets: stored } = removed
    const cost = clampToColumn(outcome.cost ?? 0n)
    if (stored !== null) {
      const held = outcome.costUnknown && amount > cost ? amount - cost : 0n
      budgets.settle(request.organization, stored, { amount, spent: cost, held })
    }
    return prepaid ? { recorded: true, charged: charge(request, cost, amount) } : uncharged
  }
}

/** Charges the full cost even if the balance is lower: a negative balance then refuses further requests. */
function prepareCharge({ sqlite }: Database, now: () => number) {
  const { balance, id, reserved } = organizations
  const balanceOf = sqlite.prepare<{ readonly balance: number }, [string]>(
    textOf(select({ balance }, sql`from ${organizations} where ${id} = ?`)),
  )
  const update = sqlite.prepare<unknown, [Nanos, Nanos, string, Nanos]>(
    textOf(sql`update ${organizations}
      set ${bare(balance)} = ${balance} - ?1, ${bare(reserved)} = ${reserved} - ?2
      where ${id} = ?3 and ${balance} - ?1 >= ?4`),
  )
  const value = sql`?`
  const entry = sqlite.prepare<unknown, [string, string, number, Nanos, string]>(
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

  function chargeClamped(organization: string, cost: Nanos, reserved: Nanos): Nanos {
    const max = BigInt(balanceOf.get(organization)?.balance ?? 0) + maxNanos
    const charged = cost < max ? cost : max
    update.run(charged, reserved, organization, -maxNanos)
    return charged
  }

  return ({ id, organization }: RequestMetadata, cost: Nanos, reserved: Nanos): Nanos => {
    // The organization exists, because its usage row was just inserted: nothing changes where the column would overflow.
    const fits = update.run(cost, reserved, organization, -maxNanos).changes > 0
    const charged = fits ? cost : chargeClamped(organization, cost, reserved)
    if (charged > 0n) entry.run(timeSortedId('led_'), organization, now(), -charged, id)
    return charged
  }
}

/** Part of a transaction: inserts the row of a request; false if it has one already, or its organization is deleted. */
export function prepareUsageInsert(
  database: Database,
): (request: RequestMetadata, outcome: Outcome) => boolean {
  const totals = prepareTotalsUpkeep(database)
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
  return (request, outcome) => {
    const isNew = insert.run(...values.map((value) => value(request, outcome))).changes > 0
    if (isNew) totals.inserted(request)
    return isNew
  }
}

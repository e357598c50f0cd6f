import { sql } from 'drizzle-orm'
import type { Outcome, RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { timeSortedId } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { Settlement } from '../../ports/ledger.ts'
import { clampToColumn, maxNanos } from '../../common/clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import { ledger, organizations } from '../../schema/organizations.ts'
import { bare, insertInto, select } from '../../sql.ts'
import { textOf } from '../run-script.ts'
import type { Reservations } from './reservations.ts'
import { prepareUsageInsert } from './usage.ts'

const unrecorded: Settlement = { recorded: false, charged: 0n }
const uncharged: Settlement = { ...unrecorded, recorded: true }

/** Part of a transaction: settles a request once. `reserved` is false if the request has no reservation. */
export type Settle = (request: RequestMetadata, outcome: Outcome, reserved: boolean) => Settlement

export function prepareSettle(database: Database, reservations: Reservations, now: () => number): Settle {
  const insertUsage = prepareUsageInsert(database)
  const charge = prepareCharge(database, now)

  return (request, outcome, reserved) => {
    if (!insertUsage(request, outcome)) return unrecorded
    const amount = reserved ? reservations.remove(request.id) : undefined
    if (amount === undefined) return uncharged
    return { recorded: true, charged: charge(request, clampToColumn(outcome.cost ?? 0n), amount) }
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

import type { Nanos } from '../../../lib/usd.ts'
import { clampToColumn, maxNanos } from '../clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import { prepareEntry } from './ledger-entries.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import type { Reservations } from './reservations.ts'
import type { Outcome } from '../../../domain/accounting/outcome.ts'
import { prepareUsage } from './usage.ts'

/** What came of the end of a request. */
export type Settlement = {
  /** False where nothing was written: the request is settled already, or its organization is gone. */
  readonly recorded: boolean
  readonly charged: Nanos
}

const unrecorded: Settlement = { recorded: false, charged: 0n }
const uncharged: Settlement = { ...unrecorded, recorded: true }

/** Part of a transaction: ends a request, once; `reserved` is false where it is known that nothing was set aside. */
export type Settling = (request: RequestMetadata, outcome: Outcome, reserved: boolean) => Settlement

export function prepareSettling(database: Database, reservations: Reservations, now: () => number): Settling {
  const record = prepareUsage(database)
  const charge = prepareCharge(database, now)

  return (request, outcome, reserved) => {
    if (!record(request, outcome)) return unrecorded
    const amount = reserved ? reservations.take(request.id) : undefined
    if (amount === undefined) return uncharged
    return { recorded: true, charged: charge(request, clampToColumn(outcome.cost ?? 0n), amount) }
  }
}

/** Charges the whole cost, also where the balance does not hold it: then nothing more is served until it is credited. */
function prepareCharge(database: Database, now: () => number) {
  const enter = prepareEntry(database)
  const balanceOf = database.sqlite.prepare<{ readonly balance: number }, [string]>(
    'SELECT balance FROM organizations WHERE id = ?',
  )
  const update = database.sqlite.prepare(
    'UPDATE organizations SET balance = balance - ?, reserved = reserved - ? WHERE id = ?',
  )

  return ({ id, organization }: RequestMetadata, cost: Nanos, reserved: Nanos): Nanos => {
    // Its usage row was written just now, so it exists.
    const balance = BigInt(balanceOf.get(organization)?.balance ?? 0)
    const charged = cost < balance + maxNanos ? cost : balance + maxNanos
    update.run(charged, reserved, organization)
    if (charged > 0n) enter({ organization, request: id, createdAt: now(), kind: 'charge', amount: -charged })
    return charged
  }
}

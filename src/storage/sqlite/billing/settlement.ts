import type { Outcome, RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { timeSortedId } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { Settlement } from '../../ports/ledger.ts'
import { clampToColumn, maxNanos } from '../../common/clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import type { EntryKind } from '../../schema/organizations.ts'
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
function prepareCharge(database: Database, now: () => number) {
  const insertEntry = prepareEntryInsert(database)
  const balanceOf = database.sqlite.prepare<{ readonly balance: number }, [string]>(
    'SELECT balance FROM organizations WHERE id = ?',
  )
  const update = database.sqlite.prepare<unknown, [Nanos, Nanos, string, Nanos]>(
    'UPDATE organizations SET balance = balance - ?1, reserved = reserved - ?2 WHERE id = ?3 AND balance - ?1 >= ?4',
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
    if (charged > 0n)
      insertEntry({ organization, request: id, createdAt: now(), kind: 'charge', amount: -charged })
    return charged
  }
}

/** A change of a balance, and its reason. */
export type LedgerEntry = {
  readonly organization: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly kind: EntryKind
  /** What it adds to the balance; negative for a charge. */
  readonly amount: Nanos
  readonly request?: string
  readonly note?: string
}

/** Part of a transaction that also changes the balance: inserts an entry. */
export function prepareEntryInsert({ sqlite }: Database): (entry: LedgerEntry) => void {
  const insert = sqlite.prepare(
    'INSERT INTO ledger (organization_id, id, created_at, kind, amount, request_id, note) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  return ({ organization, createdAt, kind, amount, request = null, note = null }) =>
    void insert.run(organization, timeSortedId('led_'), createdAt, kind, amount, request, note)
}

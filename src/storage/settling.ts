import type { Nanos } from '../lib/usd.ts'
import { keepable } from './amount.ts'
import type { Database } from './database.ts'
import { prepareEntry } from './ledger-entries.ts'
import type { RequestFacts } from './request-facts.ts'
import type { Reservations } from './reservations.ts'
import { type Outcome, prepareUsage } from './usage.ts'

/** What came of the end of a request. */
export type Settlement = {
  /** False where nothing was written: the request is settled already, or its organization is gone. */
  readonly recorded: boolean
  readonly charged: Nanos
  /** The part of the cost that the balance did not hold. */
  readonly writtenOff: Nanos
}

const unrecorded: Settlement = { recorded: false, charged: 0n, writtenOff: 0n }
const uncharged: Settlement = { ...unrecorded, recorded: true }

/** Part of a transaction: ends a request, once; `reserved` is false where it is known that nothing was set aside. */
export type Settling = (request: RequestFacts, outcome: Outcome, reserved: boolean) => Settlement

export function prepareSettling(database: Database, reservations: Reservations, now: () => number): Settling {
  const record = prepareUsage(database)
  const charge = prepareCharge(database, now)
  const account = database.sqlite.prepare<Account, [string]>(
    'SELECT balance, reserved FROM organizations WHERE id = ?',
  )

  return (request, outcome, reserved) => {
    if (!record(request, outcome)) return unrecorded
    const amount = reserved ? reservations.take(request.id) : undefined
    const found = amount === undefined ? null : account.get(request.organization)
    if (amount === undefined || found === null) return uncharged
    return charge(request, keepable(outcome.cost ?? 0n), amount, found)
  }
}

type Account = { readonly balance: number; readonly reserved: number }

/** The cost may take all that is not reserved for other requests; what is not there is written off. */
function prepareCharge(database: Database, now: () => number) {
  const enter = prepareEntry(database)
  const update = database.sqlite.prepare(
    'UPDATE organizations SET balance = balance - ?, reserved = reserved - ? WHERE id = ?',
  )

  return (request: RequestFacts, cost: Nanos, amount: Nanos, account: Account): Settlement => {
    const free = BigInt(account.balance - account.reserved) + amount
    const charged = cost < free ? cost : free
    const writtenOff = cost - charged
    update.run(charged, amount, request.organization)
    const entry = { organization: request.organization, request: request.id, createdAt: now() }
    if (cost > 0n) enter({ ...entry, kind: 'charge', amount: -cost })
    if (writtenOff > 0n) enter({ ...entry, kind: 'write_off', amount: writtenOff })
    return { recorded: true, charged, writtenOff }
  }
}

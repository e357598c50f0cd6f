import { maxNanos } from '../../../../src/lib/usd.ts'

/** What a balance should be, worked out without a database. */
export type AccountModel = {
  readonly balance: bigint
  /** The open reservations, by request. */
  readonly open: ReadonlyMap<string, OpenModel>
  /** Sums of the ledger by kind; a charge counts below zero. */
  readonly entries: Readonly<Record<'credit' | 'charge', bigint>>
}

export type OpenModel = { readonly amount: bigint; readonly promptCost: bigint }

export const emptyAccount: AccountModel = {
  balance: 0n,
  open: new Map(),
  entries: { credit: 0n, charge: 0n },
}

/** What is reserved of the balance. */
export function reservedOf({ open }: AccountModel): bigint {
  return [...open.values()].reduce((sum, { amount }) => sum + amount, 0n)
}

/** The account with the reservation, or as it was where the balance does not reach. */
export function reserved(account: AccountModel, request: string, reservation: OpenModel): AccountModel {
  if (account.balance - reservedOf(account) < reservation.amount) return account
  return { ...account, open: new Map(account.open).set(request, reservation) }
}

/** The account after an open request took that much. */
export function settled(account: AccountModel, request: string, cost: bigint): AccountModel {
  const open = new Map(account.open)
  open.delete(request)
  const { credit, charge } = account.entries
  return { balance: account.balance - cost, open, entries: { credit, charge: charge - cost } }
}

/** The account with that much more or less, or as it was where that may not be. */
export function credited(account: AccountModel, amount: bigint): AccountModel {
  const balance = account.balance + amount
  if (amount === 0n || balance > maxNanos) return account
  if (amount < 0n && balance < reservedOf(account)) return account
  return { ...account, balance, entries: { ...account.entries, credit: account.entries.credit + amount } }
}

/** The account after every open request was found at a start, in the order of their ids. */
export function recovered(account: AccountModel): AccountModel {
  const inOrder = [...account.open].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return inOrder.reduce((now, [request, { promptCost }]) => settled(now, request, promptCost), account)
}

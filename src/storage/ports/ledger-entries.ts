import type { Nanos } from '../../lib/usd.ts'

/** Money that the operator added or took back, or the cost of a request. */
export const entryKinds = ['credit', 'charge'] as const

export type EntryKind = (typeof entryKinds)[number]

/** A page of the ledger of an organization, the newest entries first. Times are milliseconds since 1970. */
export type LedgerQuery = {
  /** The id. */
  readonly organization: string
  readonly kind?: EntryKind | undefined
  readonly since?: number | undefined
  /** Exclusive. */
  readonly until?: number | undefined
  /** The id of an entry: only entries before it. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A change of a balance. */
export type LedgerEntry = {
  readonly id: string
  readonly createdAt: number
  readonly kind: EntryKind
  /** Negative where it lowered the balance. */
  readonly amount: Nanos
  /** The balance after it: the sum of it and of all before. Null if only entries of one kind are listed, or after too many. */
  readonly balance: Nanos | null
  /** The id of the request that was charged. */
  readonly request: string | null
  readonly note: string | null
}

export type LedgerPage = {
  readonly items: readonly LedgerEntry[]
  readonly hasMore: boolean
  /** The present balance. */
  readonly balance: Nanos
}

/** The sum of all entries beside the balance, both at one moment. */
export type LedgerSum = { readonly entries: number; readonly sum: Nanos; readonly balance: Nanos }

/** Reads the ledgers of organizations, for the operator. */
export type LedgerEntries = {
  page(query: LedgerQuery): Promise<LedgerPage>
  /** Up to `limit` entries in pieces; the entries are those of one list, also while new ones are added. */
  pieces(query: LedgerQuery): AsyncGenerator<readonly LedgerEntry[], void>
  /** Reads every entry at once: for the command line, which delays no request. */
  sum(organization: string): Promise<LedgerSum>
}

import { timeSortedId } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { Database } from '../connection/database.ts'
import type { EntryKind } from '../tables.ts'

/** A change of a balance, and why. */
export type LedgerEntry = {
  readonly organization: string
  readonly createdAt: number
  readonly kind: EntryKind
  /** What it adds to the balance; negative for a charge. */
  readonly amount: Nanos
  readonly request?: string
  readonly note?: string
}

/** Part of a transaction that changes the balance too: writes one entry. */
export function prepareEntry({ sqlite }: Database): (entry: LedgerEntry) => void {
  const insert = sqlite.prepare(
    'INSERT INTO ledger (organization_id, id, created_at, kind, amount, request_id, note) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  return ({ organization, createdAt, kind, amount, request = null, note = null }) =>
    void insert.run(organization, timeSortedId('led_'), createdAt, kind, amount, request, note)
}

import type { CopySums, UnbalancedOrganization } from '../ports/copy.ts'

/** Reads the sums as texts, because they may exceed the exact range of a number. */
export const selectCopySums = `SELECT
  (SELECT CAST(coalesce(sum(balance), 0) AS text) FROM organizations) balance,
  (SELECT CAST(coalesce(sum(reserved), 0) AS text) FROM organizations) reserved,
  (SELECT CAST(coalesce(sum(amount), 0) AS text) FROM ledger) ledger`

/** Converts the row of `selectCopySums`. */
export function toCopySums(row: Readonly<Record<keyof CopySums, string>> | null | undefined): CopySums {
  return {
    balance: BigInt(row?.balance ?? 0),
    reserved: BigInt(row?.reserved ?? 0),
    ledger: BigInt(row?.ledger ?? 0),
  }
}

/** Reads the organizations whose balance is not the sum of their ledger. */
export const selectUnbalanced = `SELECT o.name, CAST(o.balance AS text) balance, CAST(coalesce(l.total, 0) AS text) ledger
  FROM organizations o
  LEFT JOIN (SELECT organization_id, sum(amount) total FROM ledger GROUP BY organization_id) l ON l.organization_id = o.id
  WHERE o.deletion IS NULL AND o.balance <> coalesce(l.total, 0) ORDER BY o.id`

/** A row of `selectUnbalanced`. */
export type UnbalancedRow = Readonly<Record<keyof UnbalancedOrganization, string>>

/** Converts a row of `selectUnbalanced`. */
export function toUnbalanced({ name, balance, ledger }: UnbalancedRow): UnbalancedOrganization {
  return { name, balance: BigInt(balance), ledger: BigInt(ledger) }
}

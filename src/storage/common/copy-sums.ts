import type { CopySums } from '../ports/copy.ts'

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

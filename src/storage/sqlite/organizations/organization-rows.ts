import { usageBytes } from '../billing/usage.ts'
import { deleteCompletionsOf } from '../../scripts/completions.ts'
import type { Database } from '../connection/database.ts'
import { oneStep, stepRows } from '../../common/step-size.ts'

/** Part of a transaction: deletes some rows of the organization, and returns their number: 0 if none are left. */
export type DeleteSome = (organization: string) => number

/** One function for each table that has an index on the organization. */
export function prepareIndexedRows(database: Database): readonly DeleteSome[] {
  return [
    (organization) => database.run(deleteCompletionsOf(organization)),
    prepareResponses(database),
    prepareProviderState(database),
    prepareUsageTotals(database),
  ]
}

/** Deletes the pieces of a log first, because deleting the response would delete them all in one step. */
function prepareResponses({ sqlite }: Database): DeleteSome {
  const size = 'octet_length(head) + octet_length(log) + octet_length(input)'
  const find = sqlite.prepare<FoundResponse, [string, number]>(
    `SELECT rowid row, id, ${size} bytes FROM responses WHERE organization_id = ? LIMIT ?`,
  )
  const findPieces = sqlite.prepare<{ readonly row: number; readonly bytes: number }, [string, number]>(
    'SELECT rowid row, octet_length(entries) bytes FROM response_log ' +
      'WHERE response_id IN (SELECT value FROM json_each(?)) LIMIT ?',
  )
  const removePieces = sqlite.prepare<unknown, [string]>(
    'DELETE FROM response_log WHERE rowid IN (SELECT value FROM json_each(?))',
  )
  const remove = sqlite.prepare<unknown, [string, string]>(
    // The plus keeps SQLite from scanning all rows of the organization.
    'DELETE FROM responses WHERE +organization_id = ? AND rowid IN (SELECT value FROM json_each(?))',
  )

  return (organization) => {
    const found = oneStep(find.all(organization, stepRows))
    const ids = found.map(({ id }) => id)
    const pieces = oneStep(findPieces.all(JSON.stringify(ids), stepRows))
    if (pieces.length > 0) removePieces.run(JSON.stringify(pieces.map(({ row }) => row)))
    else remove.run(organization, JSON.stringify(found.map(({ row }) => row)))
    return pieces.length || found.length
  }
}

type FoundResponse = { readonly row: number; readonly id: string; readonly bytes: number }

function prepareProviderState({ sqlite }: Database): DeleteSome {
  const find = sqlite.prepare<{ readonly id: string; readonly bytes: number }, [string, number]>(
    'SELECT call_id id, octet_length(value) bytes FROM provider_state WHERE organization_id = ? LIMIT ?',
  )
  const remove = sqlite.prepare<unknown, [string, string]>(
    'DELETE FROM provider_state WHERE organization_id = ? AND call_id IN (SELECT value FROM json_each(?))',
  )
  return (organization) => {
    const found = oneStep(find.all(organization, stepRows))
    remove.run(organization, JSON.stringify(found.map(({ id }) => id)))
    return found.length
  }
}

function prepareUsageTotals({ sqlite }: Database): DeleteSome {
  const key = 'organization_id, width, start, key_id, api, model, provider'
  const remove = sqlite.prepare<unknown, [string, number]>(
    `DELETE FROM usage_totals WHERE (${key}) IN (SELECT ${key} FROM usage_totals WHERE organization_id = ? LIMIT ?)`,
  )
  return (organization) => remove.run(organization, stepRows).changes
}

/** A table without an index on the organization, because an index would cost every request. It is scanned by range. */
export type ScannedRows = {
  /** Returns the last key of the range after this key; undefined if the range reaches the end of the table. */
  endOf(after: RowKey): RowKey | undefined
  /** Returns the key of the last row of the organization in a range that one step may delete. */
  find(organization: string, after: RowKey, end: RowKey): RowKey | undefined
  /** Part of a transaction: deletes the rows of the organization in a range, and returns their number. */
  remove(organization: string, after: RowKey, end: RowKey): number
}

/** The time and the id of a row; the time is 0 in tables that are sorted only by id. */
export type RowKey = readonly [time: number, id: string]

export const lowestKey: RowKey = [Number.MIN_SAFE_INTEGER, '']
export const highestKey: RowKey = [Number.MAX_SAFE_INTEGER, '\u{10FFFF}']

/** The rows that one step scans. */
const rangeRows = 5000

/** The tables without an index on the organization. */
export function prepareScannedRows(database: Database): readonly ScannedRows[] {
  return [
    prepareScan(database, 'usage', ['created_at', 'id'], usageBytes),
    prepareScan(database, 'ledger', ['id'], 'coalesce(octet_length(note), 0)'),
    prepareScan(database, 'reservations', ['request_id'], 'octet_length(request)'),
  ]
}

function prepareScan(
  { sqlite }: Database,
  table: string,
  columns: readonly string[],
  bytes: string,
): ScannedRows {
  const key = columns.join()
  const placeholders = columns.map(() => '?').join()
  const within = `(${key}) > (${placeholders}) AND (${key}) <= (${placeholders}) AND organization_id = ?`
  const end = sqlite.prepare<unknown[], (number | string)[]>(
    `SELECT ${key} FROM ${table} WHERE (${key}) > (${placeholders}) ORDER BY ${key} LIMIT 1 OFFSET ${rangeRows - 1}`,
  )
  const own = sqlite.prepare<unknown[], (number | string)[]>(
    `SELECT ${bytes}, ${key} FROM ${table} WHERE ${within} ORDER BY ${key} LIMIT ${stepRows}`,
  )
  const remove = sqlite.prepare<unknown, (number | string)[]>(`DELETE FROM ${table} WHERE ${within}`)
  const values = (key: RowKey) => key.slice(-columns.length)
  const toKey = (row: readonly unknown[]): RowKey => [
    columns.length > 1 ? Number(row.at(-2)) : 0,
    String(row.at(-1)),
  ]

  return {
    endOf: (after) => end.values(...values(after)).map(toKey)[0],
    find(organization, after, end) {
      const rows = own.values(...values(after), ...values(end), organization)
      return oneStep(rows.map((row) => ({ bytes: Number(row[0]), key: toKey(row) }))).at(-1)?.key
    },
    remove: (organization, after, end) => remove.run(...values(after), ...values(end), organization).changes,
  }
}

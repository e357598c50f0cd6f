import { stepBytes, stepRows } from '../../common/step-size.ts'
import type { Query } from '../connection/connections.ts'

/** A table with rows of organizations. */
export type OwnedTable = {
  readonly name: string
  /** SQL for a key of a row that sorts: its time, 0 where it has none, and its id. */
  readonly key: readonly [time: string, id: string]
  /** SQL for the bytes of a row that clients chose; it does not read them. */
  readonly bytes: string
}

/** The tables that have an index on the organization. */
export const indexedTables: readonly OwnedTable[] = [
  {
    name: 'completions',
    key: ['sequence', 'id'],
    bytes: 'octet_length(completion) + octet_length(messages)',
  },
  {
    name: 'responses',
    key: ['0', 'id'],
    bytes: 'octet_length(head) + octet_length(log) + octet_length(input)',
  },
  { name: 'provider_state', key: ['0', 'call_id'], bytes: 'octet_length(value)' },
]

/** The tables without one, because an index would cost every request. They are scanned by range. */
export const scannedTables: readonly OwnedTable[] = [
  {
    name: 'usage',
    key: ['created_at', 'id'],
    bytes:
      'coalesce(octet_length("user"), 0) + coalesce(octet_length(tags), 0) + coalesce(octet_length(trace), 0)',
  },
  { name: 'ledger', key: ['0', 'id'], bytes: 'coalesce(octet_length(note), 0)' },
  { name: 'reservations', key: ['0', 'request_id'], bytes: 'octet_length(request)' },
]

/** Deletes some rows of the organization, and resolves with their number: 0 if none are left. */
export async function deleteIndexedRows(
  query: Query,
  { name, key: [, id], bytes }: OwnedTable,
  organization: string,
): Promise<number> {
  const [row] = await query<{ readonly deleted: number }>(
    `WITH found AS (SELECT ${id} id, ${bytes} bytes FROM ${name} WHERE organization_id = $1 LIMIT ${stepRows}),
    sized AS (SELECT id, sum(bytes) OVER (ORDER BY id) - bytes earlier FROM found),
    deleted AS (
      DELETE FROM ${name} WHERE organization_id = $1
      AND ${id} IN (SELECT id FROM sized WHERE earlier < ${stepBytes}) RETURNING 1)
    SELECT count(*) deleted FROM deleted`,
    [organization],
  )
  return row?.deleted ?? 0
}

/** The time and the id of a row. */
export type RowKey = readonly [time: number, id: string]

export const lowestKey: RowKey = [Number.MIN_SAFE_INTEGER, '']

/** The rows that one step scans. */
const rangeRows = 5000

type ScanRow = { readonly deleted: number; readonly time: number | null; readonly id: string | null }

/**
 * Deletes the rows of the organization in the range after the key. Resolves with their number, and with the key of the
 * next range; without one if no rows are left.
 */
export async function deleteScannedRows(
  query: Query,
  { name, key: [time, id] }: OwnedTable,
  organization: string,
  after: RowKey,
): Promise<{ readonly deleted: number; readonly next: RowKey | undefined }> {
  const key = time === '0' ? id : `(${time}, ${id})`
  const start = time === '0' ? '$3' : '($2::bigint, $3)'
  const [row] = await query<ScanRow>(
    `WITH range AS (
      SELECT ${time === '0' ? '$2::bigint' : time} AS time, ${id} id, organization_id FROM ${name}
      WHERE ${key} > ${start} ORDER BY ${time === '0' ? '' : `${time}, `}${id} LIMIT ${rangeRows}),
    deleted AS (
      DELETE FROM ${name} WHERE organization_id = $1
      AND (${time === '0' ? id : `${time}, ${id}`}) IN
        (SELECT ${time === '0' ? '' : 'time, '}id FROM range WHERE organization_id = $1) RETURNING 1),
    last AS (SELECT time, id FROM range ORDER BY time DESC, id DESC LIMIT 1)
    SELECT (SELECT count(*) FROM deleted) deleted, (SELECT time FROM last) AS time, (SELECT id FROM last) id`,
    [organization, after[0], after[1]],
  )
  const { deleted = 0, time: lastTime = null, id: lastId = null } = row ?? {}
  return { deleted, next: lastTime === null || lastId === null ? undefined : [lastTime, lastId] }
}

import { parseJson } from '../../../lib/json/json.ts'
import type { ResponseHead, ResponseReads, ResponseRow } from '../../common/response-list.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import { logSize } from './log-sql.ts'

/** Prepares what a list of responses reads. */
export function prepareListReads(database: Database): Omit<ResponseReads, 'find'> {
  const statements = { asc: prepareOrder(database, '>', 'ASC'), desc: prepareOrder(database, '<', 'DESC') }
  const heads = prepareHeads(database)
  return {
    rows: (organization, after, order, limit) =>
      read(() => statements[order].all(organization, after ?? (order === 'asc' ? '' : highestId), limit)),
    heads: (ids) => read(() => new Map(heads.all(JSON.stringify(ids)).map((row) => [row.id, toHead(row)]))),
  }
}

/** Greater than every id. */
const highestId = '\u{10FFFF}'

function prepareOrder({ sqlite }: Database, comparison: '<' | '>', order: 'ASC' | 'DESC') {
  return sqlite.prepare<ResponseRow, [string, string, number]>(
    `SELECT id, status, octet_length(head) headBytes, octet_length(head) + ${logSize} bytes FROM responses
     WHERE organization_id = ? AND deletion IS NULL AND id ${comparison} ? ORDER BY id ${order} LIMIT ?`,
  )
}

type HeadRow = { readonly id: string; readonly model: string | null; readonly metadata: string | null }

function prepareHeads({ sqlite }: Database) {
  return sqlite.prepare<HeadRow, [string]>(
    `SELECT id, json_extract(head, '$.model') model, json_extract(head, '$.metadata') metadata FROM responses
     WHERE id IN (SELECT value FROM json_each(?)) AND json_valid(head)`,
  )
}

function toHead({ model, metadata }: HeadRow): ResponseHead {
  return { model, metadata: parseJson(metadata ?? '{}') }
}

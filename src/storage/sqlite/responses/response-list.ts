import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import { fieldsOf, parseJson } from '../../../lib/json/json.ts'
import { countOnPage } from '../../../lib/page-bytes.ts'
import { nextTurn } from '../../../lib/time.ts'
import type { ResponseQuery, Responses, ResponseStatus, StoredResponse } from '../../ports/responses.ts'
import { UnreadableError } from '../../ports/stored-json.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import { logSize } from './log-sql.ts'

/** The rows that one step compares with the filters, and the bytes of their heads. */
const stepRows = 500
const stepBytes = 1024 ** 2
/** How long rare responses are searched for. */
const maxSearchMs = 10_000

type FindResponse = (organization: string, id: string) => Promise<StoredResponse | undefined>

/** Returns a function that reads a page by the index on the organization. It compares filters step by step. */
export function prepareResponseList(database: Database, find: FindResponse): Responses['list'] {
  const statements = { asc: prepareOrder(database, '>', 'ASC'), desc: prepareOrder(database, '<', 'DESC') }

  return async function list(query, hold) {
    const found = await search(query, statements[query.order])
    const onPage = found.slice(0, countOnPage(found.slice(0, query.limit).map(({ bytes }) => bytes)))
    await hold?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
    const responses = await loadAll(onPage, ({ id }) => find(query.organization, id))
    return { responses, last: onPage.at(-1)?.id, hasMore: found.length > onPage.length }
  }
}

type Row = {
  readonly id: string
  readonly status: ResponseStatus
  readonly bytes: number
  readonly headBytes: number
}
type Statements = ReturnType<typeof prepareOrder>

/** Finds the rows of the page and one more. */
async function search(query: ResponseQuery, statements: Statements): Promise<readonly Row[]> {
  const { organization, status, order, limit } = query
  const readsHead = query.model !== undefined || query.metadata.length > 0
  const isFiltered = readsHead || status !== undefined
  const deadline = performance.now() + maxSearchMs
  const found: Row[] = []
  for (let after = query.after ?? (order === 'asc' ? '' : highestId); ;) {
    const rows = await read(() => statements.rows.all(organization, after, isFiltered ? stepRows : limit + 1))
    const step = readsHead ? withinBytes(rows) : rows
    const matching = step.filter((row) => status === undefined || row.status === status)
    const heads = readsHead ? await read(() => readHeads(matching, statements)) : undefined
    found.push(...matching.filter(({ id }) => heads === undefined || matches(query, heads.get(id))))
    const last = step.at(-1)
    if (found.length > limit || last === undefined || !isFiltered) return found.slice(0, limit + 1)
    if (performance.now() > deadline) throw tooLong()
    after = last.id
    await nextTurn()
  }
}

/** Greater than every id. */
const highestId = '\u{10FFFF}'

function withinBytes(rows: readonly Row[]): readonly Row[] {
  let bytes = 0
  const end = rows.findIndex(({ headBytes }, index) => (bytes += headBytes) > stepBytes && index > 0)
  return end < 0 ? rows : rows.slice(0, end)
}

/** What a filter compares; both are JSON. */
type Head = { readonly model: string | null; readonly metadata: string | null }

function readHeads(rows: readonly Row[], { heads }: Statements): ReadonlyMap<string, Head> {
  const found = heads.all(JSON.stringify(rows.map(({ id }) => id)))
  return new Map(found.map(({ id, ...head }) => [id, head]))
}

function matches({ model, metadata }: ResponseQuery, head: Head | undefined): boolean {
  if (head === undefined || (model !== undefined && head.model !== model)) return false
  if (metadata.length === 0) return true
  const stored = fieldsOf(parseJson(head.metadata ?? '{}'))
  return metadata.every(([key, value]) => Object.hasOwn(stored, key) && textOf(stored[key]) === value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The bytes to read in one turn of the event loop. */
const sliceBytes = 2 * 1024 ** 2

async function loadAll(
  rows: readonly Row[],
  find: (row: Row) => Promise<StoredResponse | undefined>,
): Promise<readonly StoredResponse[]> {
  const responses: StoredResponse[] = []
  let bytes = 0
  for (const row of rows) {
    const response = await find(row).catch(skipUnreadable)
    if (response !== undefined) responses.push(response)
    bytes += row.bytes
    if (bytes < sliceBytes) continue
    bytes = 0
    await nextTurn()
  }
  return responses
}

function skipUnreadable(error: unknown): undefined {
  if (!(error instanceof UnreadableError)) throw error
}

function prepareOrder({ sqlite }: Database, comparison: '<' | '>', order: 'ASC' | 'DESC') {
  return {
    rows: sqlite.prepare<Row, [string, string, number]>(
      `SELECT id, status, octet_length(head) headBytes, octet_length(head) + ${logSize} bytes FROM responses
       WHERE organization_id = ? AND deletion IS NULL AND id ${comparison} ? ORDER BY id ${order} LIMIT ?`,
    ),
    heads: sqlite.prepare<Head & { readonly id: string }, [string]>(
      `SELECT id, json_extract(head, '$.model') model, json_extract(head, '$.metadata') metadata FROM responses
       WHERE id IN (SELECT value FROM json_each(?)) AND json_valid(head)`,
    ),
  }
}

function tooLong(): Error {
  return serviceUnavailable(
    'Too few of the stored responses match the filters to find a page in time. Use fewer filters, or a later cursor.',
  )
}

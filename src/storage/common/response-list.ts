import { serviceUnavailable } from '../../lib/errors/errors.ts'
import { fieldsOf } from '../../lib/json/json.ts'
import { countOnPage } from '../../lib/page-bytes.ts'
import { nextTurn } from '../../lib/time.ts'
import type { ResponseQuery, Responses, ResponseStatus, StoredResponse } from '../ports/responses.ts'
import { UnreadableError } from '../ports/stored-json.ts'

/** The rows that one step compares with the filters, and the bytes of their heads. */
const stepRows = 500
const stepBytes = 1024 ** 2
/** How long rare responses are searched for. */
const maxSearchMs = 10_000

/** What the search reads of a store. */
export type ResponseReads = {
  /** Returns the visible responses of an organization after that place, or from the start, in the order of their ids. */
  rows(
    organization: string,
    after: string | undefined,
    order: 'asc' | 'desc',
    limit: number,
  ): Promise<readonly ResponseRow[]>
  /** Returns what filters compare, by id; nothing for damaged responses. */
  heads(ids: readonly string[]): Promise<ReadonlyMap<string, ResponseHead>>
  find(organization: string, id: string): Promise<StoredResponse | undefined>
}

/** A response that a page may have. `bytes` counts what is read to show it. */
export type ResponseRow = {
  readonly id: string
  readonly status: ResponseStatus
  readonly bytes: number
  readonly headBytes: number
}

/** What a filter compares: values of JSON. */
export type ResponseHead = { readonly model: unknown; readonly metadata: unknown }

/** Returns a function that reads a page by the index on the organization. It compares filters step by step. */
export function createResponseList(reads: ResponseReads): Responses['list'] {
  return async function list(query, hold) {
    const found = await search(query, reads)
    const onPage = found.slice(0, countOnPage(found.slice(0, query.limit).map(({ bytes }) => bytes)))
    await hold?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
    const responses = await loadAll(onPage, ({ id }) => reads.find(query.organization, id))
    return { responses, last: onPage.at(-1)?.id, hasMore: found.length > onPage.length }
  }
}

/** Finds the rows of the page and one more. */
async function search(query: ResponseQuery, reads: ResponseReads): Promise<readonly ResponseRow[]> {
  const { organization, status, order, limit } = query
  const readsHead = query.model !== undefined || query.metadata.length > 0
  const isFiltered = readsHead || status !== undefined
  const deadline = performance.now() + maxSearchMs
  const found: ResponseRow[] = []
  for (let after = query.after; ;) {
    const rows = await reads.rows(organization, after, order, isFiltered ? stepRows : limit + 1)
    const step = readsHead ? withinBytes(rows) : rows
    const matching = step.filter((row) => status === undefined || row.status === status)
    const heads = readsHead ? await reads.heads(matching.map(({ id }) => id)) : undefined
    found.push(...matching.filter(({ id }) => heads === undefined || matches(query, heads.get(id))))
    const last = step.at(-1)
    if (found.length > limit || last === undefined || !isFiltered) return found.slice(0, limit + 1)
    if (performance.now() > deadline) throw tooLong()
    after = last.id
    await nextTurn()
  }
}

function withinBytes(rows: readonly ResponseRow[]): readonly ResponseRow[] {
  let bytes = 0
  const end = rows.findIndex(({ headBytes }, index) => (bytes += headBytes) > stepBytes && index > 0)
  return end < 0 ? rows : rows.slice(0, end)
}

function matches({ model, metadata }: ResponseQuery, head: ResponseHead | undefined): boolean {
  if (head === undefined || (model !== undefined && head.model !== model)) return false
  if (metadata.length === 0) return true
  const stored = fieldsOf(head.metadata ?? {})
  return metadata.every(([key, value]) => Object.hasOwn(stored, key) && textOf(stored[key]) === value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The bytes to read in one turn of the event loop. */
const sliceBytes = 2 * 1024 ** 2

async function loadAll(
  rows: readonly ResponseRow[],
  find: (row: ResponseRow) => Promise<StoredResponse | undefined>,
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

function tooLong(): Error {
  return serviceUnavailable(
    'Too few of the stored responses match the filters to find a page in time. Use fewer filters, or a later cursor.',
  )
}

import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { serviceUnavailable } from '../../lib/errors/errors.ts'
import { fieldsOf, type JsonObject, parseJson } from '../../lib/json/json.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { countOnPage } from '../../lib/page-bytes.ts'
import { ownTurn } from '../../lib/time.ts'
import { textOf } from '../common/completion-terms.ts'
import { type FoundRow, readSlices } from '../common/row-slices.ts'
import type {
  ResponseKey,
  ResponsePage,
  ResponseQuery,
  Responses,
  ResponseStatus,
  StoredResponse,
} from '../ports/responses.ts'
import { parseStored, parseStoredList } from '../ports/stored-json.ts'
import { response_log, responses } from '../schema/stored.ts'
import { type RowOf, select } from '../sql.ts'
import { type Parameters, type ScriptRunner, statement } from '../statement.ts'
import { createConversations } from './conversations.ts'
import { createRemovals, ofKey, type RemovalOptions } from './response-removal.ts'

/** The responses, and what keeps other processes from erasing those that this one has pinned. */
export type ErasableResponses = Responses & Pick<ReturnType<typeof createRemovals>, 'postponeErasures'>

/** The stored responses in a database. They are inserted, and finished, by its writer. */
export function createResponses(runner: ScriptRunner, options: RemovalOptions): ErasableResponses {
  const { read } = runner

  async function acquireFor(part: 'response' | 'input', key: ResponseKey, acquireMemory?: AcquireMemory) {
    if (acquireMemory === undefined) return
    const [sizes] = await read(() => selectSizes(key))
    await acquireMemory(sizes?.[part] ?? 0)
  }

  return {
    async find(organization, id, acquireMemory) {
      await acquireFor('response', { organization, id }, acquireMemory)
      const [row] = await read(() => selectOne({ organization, id }))
      return row && toResponse(row)
    },
    async findInput(organization, id, acquireMemory) {
      await acquireFor('input', { organization, id }, acquireMemory)
      const [row] = await read(() => selectInput({ organization, id }))
      return row && (await parseStoredList<JsonObject>(`response ${id}`, row.input))
    },
    async findRun(organization, id) {
      const [row] = await read(() => selectRun({ organization, id }))
      return row?.run == null ? undefined : parseStored(`response ${id}`, row.run)
    },
    list: (query, acquireMemory) => listResponses(query, read, acquireMemory),
    ...createConversations(runner),
    ...createRemovals(runner, options),
  }
}

const inProgress = sql`${responses.status} = 'in_progress'`
const ofPieces = sql`from ${response_log} where ${response_log.response_id} = ${responses.id}`

/** The events so far; `string_agg` joins the pieces of a run in their order. */
export const completeLog = sql<string>`case when ${inProgress} then ${responses.log} || coalesce((
  select string_agg(${response_log.entries}, '' order by ${response_log.position}) ${ofPieces}), '') else ${responses.log} end`

const pieceCount = sql<number>`case when ${inProgress} then (select count(*) ${ofPieces}) else 0 end`

const pieceBytes = sql`case when ${inProgress} then coalesce((
  select sum(octet_length(${response_log.entries})) ${ofPieces}), 0) else 0 end`

/** The bytes that are read to show a response. */
const shownBytes = sql<number>`octet_length(${responses.head}) + octet_length(${responses.log}) + ${pieceBytes}`

const selectSizes = statement((values: Parameters<ResponseKey>) =>
  select({ response: shownBytes, input: sql<number>`octet_length(${responses.input})` }, visible(values)),
)

const selectInput = statement((values: Parameters<ResponseKey>) =>
  select({ input: responses.input }, visible(values)),
)

const selectRun = statement((values: Parameters<ResponseKey>) =>
  select({ run: responses.run }, visible(values)),
)

const storedFields = {
  id: responses.id,
  status: responses.status,
  head: responses.head,
  log: completeLog,
  pieces: pieceCount,
}

const selectOne = statement((values: Parameters<ResponseKey>) => select(storedFields, visible(values)))

function visible(values: Parameters<ResponseKey>): SQL {
  return sql`from ${responses} ${ofKey(values)} and ${isNull(responses.deletion)}`
}

function toResponse(row: RowOf<typeof storedFields>): StoredResponse {
  return { ...row, head: parseStored(`response ${row.id}`, row.head) }
}

/** The bytes of responses that are read in one turn of the event loop. */
const slice = { maxRows: Infinity, maxBytes: 2 * 1024 ** 2 }

async function listResponses(
  query: ResponseQuery,
  read: ScriptRunner['read'],
  acquireMemory?: AcquireMemory,
): Promise<ResponsePage> {
  const found = await search(query, read)
  const onPage = found.slice(0, countOnPage(found.slice(0, query.limit).map(({ bytes }) => bytes)))
  await acquireMemory?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
  const { organization } = query
  const slices = readSlices(onPage, slice, (ids) => read(() => selectListed({ organization, ids })))
  const responses: StoredResponse[] = []
  for await (const rows of slices) responses.push(...rows.flatMap((row) => (row && toReadable(row)) ?? []))
  return { responses, last: onPage.at(-1)?.id, hasMore: found.length > onPage.length }
}

const selectListed = statement(
  (values: Parameters<{ organization: string; ids: readonly string[] }>, { isOneOf }) =>
    select(
      storedFields,
      sql`from ${responses} where ${isOneOf(responses.id, values.ids)}
        and ${eq(responses.organization_id, values.organization)} and ${isNull(responses.deletion)}`,
    ),
)

/** Undefined for a damaged response. */
function toReadable(row: RowOf<typeof storedFields>): StoredResponse | undefined {
  const head = parseJson(row.head)
  return head === undefined ? undefined : { ...row, head: head as JsonObject }
}

/** The rows that one step compares with the filters, and the bytes of their heads. */
const stepRows = 100
const stepBytes = 256 * 1024
/** How long rare responses are searched for. */
const maxSearchMs = 10_000

/** Finds the rows of the page and one more, by the index on the organization. Compares filters step by step. */
async function search(query: ResponseQuery, read: ScriptRunner['read']): Promise<readonly FoundRow[]> {
  const { organization, status, limit } = query
  const readsHead = query.model !== undefined || query.metadata.length > 0
  const isFiltered = readsHead || status !== undefined
  const { selectRows, start } = orders[query.order]
  const deadline = performance.now() + maxSearchMs
  const found: FoundRow[] = []
  for (let after = query.after ?? start; ;) {
    const rows = await read(() =>
      selectRows({ organization, after, limit: isFiltered ? stepRows : limit + 1 }),
    )
    const step = readsHead
      ? rows.slice(
          0,
          countOnPage(
            rows.map(({ headBytes }) => headBytes),
            stepBytes,
          ),
        )
      : rows
    const matching = step.filter((row) => status === undefined || row.status === status)
    found.push(...(readsHead ? await withMatchingHeads(matching, query, read) : matching))
    const last = step.at(-1)
    if (found.length > limit || last === undefined || !isFiltered) return found.slice(0, limit + 1)
    if (performance.now() > deadline) throw tooLong()
    after = last.id
    // Of several searches, one takes its step: those of one client would add up.
    await ownTurn()
  }
}

/** `start` is before all ids in this order. */
const orders = {
  asc: { selectRows: selectRowsInOrder(sql`>`, sql`asc`), start: '' },
  desc: { selectRows: selectRowsInOrder(sql`<`, sql`desc`), start: '\u{10FFFF}' },
}

function selectRowsInOrder(follows: SQL, direction: SQL) {
  const headBytes = sql<number>`octet_length(${responses.head})`
  return statement((values: Parameters<{ organization: string; after: string; limit: number }>) =>
    select(
      { id: responses.id, status: responses.status, headBytes, bytes: shownBytes },
      sql`from ${responses} where ${eq(responses.organization_id, values.organization)}
        and ${isNull(responses.deletion)} and ${responses.id} ${follows} ${values.after}
        order by ${responses.id} ${direction} limit ${values.limit}`,
    ),
  )
}

type ListedRow = FoundRow & { readonly status: ResponseStatus; readonly headBytes: number }

async function withMatchingHeads(
  rows: readonly ListedRow[],
  query: ResponseQuery,
  read: ScriptRunner['read'],
): Promise<readonly ListedRow[]> {
  const heads = await read(() => selectHeads({ ids: rows.map(({ id }) => id) }))
  const matching = new Set(heads.filter(({ head }) => matchesFilters(query, head)).map(({ id }) => id))
  return rows.filter(({ id }) => matching.has(id))
}

const selectHeads = statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
  select(
    { id: responses.id, head: responses.head },
    sql`from ${responses} where ${isOneOf(responses.id, values.ids)}`,
  ),
)

/** Whether a response with this head, as JSON text, has the model and the metadata of the query; false if it is damaged. */
function matchesFilters({ model, metadata }: ResponseQuery, text: string): boolean {
  const head = parseJson(text)
  if (head === undefined) return false
  const fields = fieldsOf(head)
  if (model !== undefined && fields.model !== model) return false
  const stored = fieldsOf(fields.metadata)
  return metadata.every(([key, value]) => Object.hasOwn(stored, key) && textOf(stored[key]) === value)
}

function tooLong(): Error {
  return serviceUnavailable(
    'Too few of the stored responses match the filters to find a page in time. Use fewer filters, or a later cursor.',
  )
}

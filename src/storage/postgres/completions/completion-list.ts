import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { countOnPage } from '../../../lib/page-bytes.ts'
import { nextTurn } from '../../../lib/time.ts'
import { matchOf } from '../../common/completion-terms.ts'
import { sequenceOf } from '../../ports/completion-sequence.ts'
import type { CompletionPage, CompletionQuery, StoredCompletion } from '../../ports/completions.ts'
import type { Query } from '../connection/connections.ts'
import { Parameters, type Statement } from '../writer/statement.ts'
import { termsArray } from '../writes.ts'

/** Returns a function that reads a page by an index, without the messages, and without completions on other pages. */
export function createCompletionList(query: Query) {
  return async function list(request: CompletionQuery, hold?: AcquireMemory): Promise<CompletionPage> {
    const found = await findRows(query, request, request.limit + 1)
    const onPage = found.slice(0, countOnPage(found.slice(0, request.limit).map(({ bytes }) => bytes)))
    await hold?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
    const completions = await loadAll(query, request.organization, onPage)
    const more = found.length > onPage.length
    const last = onPage.at(-1)
    // All rows of the page were deleted meanwhile, and an empty page has no cursor for the next one.
    if (completions.length === 0 && more && last) return await list({ ...request, after: last.id }, hold)
    return { completions, hasMore: more }
  }
}

type FoundCompletion = { readonly id: string; readonly bytes: number }

/** The rows that are compared with the metadata in their order, and the most matches that are sorted. */
const maxCompared = 2000
const maxSorted = 5000

/**
 * The server cannot know how many rows have several pairs of metadata together: it would read all rows in their order for
 * pairs that never meet, or sort all rows for pairs that often do. So a few rows are compared first, and then the index of
 * the terms is asked; only if that finds too many does the server decide.
 */
async function findRows(
  query: Query,
  request: CompletionQuery,
  limit: number,
): Promise<readonly FoundCompletion[]> {
  const read = <Row>({ text, values }: Statement) => query<Row>(text, values)
  if (request.metadata.length > 0) {
    const first = await read<FoundCompletion>(comparedStatement(request, limit))
    if (first.length >= limit) return first
    const sorted = await read<FoundCompletion & { readonly matches: number }>(sortedStatement(request, limit))
    if ((sorted[0]?.matches ?? 0) <= maxSorted) return sorted
  }
  return await read<FoundCompletion>(pageStatement(request, limit))
}

function comparedStatement(request: CompletionQuery, limit: number): Statement {
  const { parameters, columns, terms, conditions, order } = partsOf(request)
  const text = `SELECT id, bytes FROM (
      SELECT ${columns} FROM completions WHERE ${conditions.join(' AND ')} ${order} LIMIT ${maxCompared}) compared
    WHERE terms @> ${terms} ${order} LIMIT ${parameters.add(limit)}`
  return { text, values: parameters.values }
}

/** As a subquery, the terms are unknown to the planner, which then expects few rows and uses their index. */
function sortedStatement(request: CompletionQuery, limit: number): Statement {
  const { parameters, columns, terms, conditions, order } = partsOf(request)
  const text = `WITH matching AS MATERIALIZED (
      SELECT ${columns} FROM completions WHERE ${[...conditions, `terms @> (SELECT ${terms})`].join(' AND ')}
      LIMIT ${maxSorted + 1})
    SELECT id, bytes, (SELECT count(*) FROM matching) matches FROM matching ${order} LIMIT ${parameters.add(limit)}`
  return { text, values: parameters.values }
}

function pageStatement(request: CompletionQuery, limit: number): Statement {
  const { parameters, columns, terms, conditions, order } = partsOf(request)
  if (request.metadata.length > 0) conditions.push(`terms @> ${terms}`)
  const text = `SELECT ${columns} FROM completions
    WHERE ${conditions.join(' AND ')} ${order} LIMIT ${parameters.add(limit)}`
  return { text, values: parameters.values }
}

/** The SQL of the statements. The terms include the model. */
function partsOf({ organization, model, metadata, after, order }: CompletionQuery) {
  const parameters = new Parameters()
  const conditions = [`organization_id = ${parameters.add(organization)}`]
  const terms =
    metadata.length > 0 ? `${parameters.add(termsArray(matchOf(organization, model, metadata)))}::uuid[]` : ''
  if (metadata.length === 0 && model !== undefined) conditions.push(`model = ${parameters.add(model)}`)
  // The id of a deleted completion still has a sequence; a cursor without one is ignored.
  const sequence = after === undefined ? undefined : sequenceOf(after)
  const comparison = order === 'asc' ? '>' : '<'
  if (sequence !== undefined)
    conditions.push(`(sequence, id) ${comparison} (${parameters.add(sequence)}, ${parameters.add(after)})`)
  return {
    parameters,
    conditions,
    terms,
    columns: 'id, sequence, terms, octet_length(completion) + octet_length(metadata) bytes',
    order: `ORDER BY sequence ${order}, id ${order}`,
  }
}

/** The bytes to read and to check in one turn of the event loop. */
const sliceBytes = 2 * 1024 * 1024

async function loadAll(
  query: Query,
  organization: string,
  found: readonly FoundCompletion[],
): Promise<readonly StoredCompletion[]> {
  const completions: StoredCompletion[] = []
  for (const ids of slicesOf(found)) {
    const rows = await query<StoredCompletion>(
      'SELECT id, completion, metadata FROM completions WHERE id = ANY($1) AND organization_id = $2',
      [ids, organization],
    )
    const byId = new Map(rows.filter(isReadable).map((row) => [row.id, row]))
    completions.push(...ids.flatMap((id) => byId.get(id) ?? []))
    await nextTurn()
  }
  return completions
}

function slicesOf(found: readonly FoundCompletion[]): readonly (readonly string[])[] {
  const slices: string[][] = []
  let bytes = Infinity
  for (const row of found) {
    if (bytes + row.bytes > sliceBytes) {
      slices.push([])
      bytes = 0
    }
    slices.at(-1)?.push(row.id)
    bytes += row.bytes
  }
  return slices
}

/** Whether both texts are JSON: a damaged completion would break a reply that contains it. */
export function isReadable({ completion, metadata }: StoredCompletion): boolean {
  try {
    JSON.parse(completion)
    JSON.parse(metadata)
    return true
  } catch {
    return false
  }
}

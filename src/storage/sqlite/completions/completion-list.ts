import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { countOnPage } from '../../../lib/page-bytes.ts'
import { nextTurn } from '../../../lib/time.ts'
import { sequenceOf } from '../../ports/completion-sequence.ts'
import type { CompletionPage, CompletionQuery, StoredCompletion } from '../../ports/completions.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import { matchOf } from '../../common/completion-terms.ts'

/** Returns a function that reads a page by an index, without the messages, and without completions on other pages. */
export function prepareCompletionList(database: Database): CompletionList {
  const { sqlite } = database
  const position = sqlite.prepare<Position, [string, string]>(
    'SELECT sequence FROM completions WHERE id = ? AND organization_id = ?',
  )
  const one = sqlite.prepare<StoredCompletion, [string, string]>(
    // Only what is on the page is parsed: a page of large rows would otherwise take seconds.
    `SELECT id, completion, metadata FROM completions WHERE id = ? AND organization_id = ? AND ${readable}`,
  )
  const statements = { asc: prepareOrder(sqlite, '>', 'ASC'), desc: prepareOrder(sqlite, '<', 'DESC') }

  function cursorOf({ after, order, organization }: CompletionQuery): number {
    const start = order === 'asc' ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
    if (after === undefined) return start
    // The id of a deleted completion still has a sequence.
    return position.get(after, organization)?.sequence ?? sequenceOf(after) ?? start
  }

  return async function list(query, hold) {
    const found = await read(() => rowsOf(query, statements[query.order], cursorOf(query), query.limit + 1))
    const onPage = found.slice(0, countOnPage(found.slice(0, query.limit).map(({ bytes }) => bytes)))
    await hold?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
    const completions = await loadAll(onPage, ({ id }) => read(() => one.get(id, query.organization)))
    const more = found.length > onPage.length
    const last = onPage.at(-1)
    // All rows of the page were deleted meanwhile, and an empty page has no cursor for the next one.
    if (completions.length === 0 && more && last) return await list({ ...query, after: last.id }, hold)
    return { completions, hasMore: more }
  }
}

type CompletionList = (query: CompletionQuery, hold?: AcquireMemory) => Promise<CompletionPage>

type FoundCompletion = { readonly id: string; readonly bytes: number }

/** The bytes to read in one turn of the event loop. */
const sliceBytes = 2 * 1024 * 1024

async function loadAll(
  found: readonly FoundCompletion[],
  find: (row: FoundCompletion) => Promise<StoredCompletion | null>,
): Promise<readonly StoredCompletion[]> {
  const completions: StoredCompletion[] = []
  let bytes = 0
  for (const row of found) {
    const completion = await find(row)
    if (completion) completions.push(completion)
    bytes += row.bytes
    if (bytes < sliceBytes) continue
    bytes = 0
    await nextTurn()
  }
  return completions
}

type Position = { readonly sequence: number }

type Statements = ReturnType<typeof prepareOrder>

function rowsOf(
  { organization, model, metadata }: CompletionQuery,
  { all, ofModel, matching }: Statements,
  cursor: number,
  limit: number,
): FoundCompletion[] {
  if (metadata.length > 0)
    return matching.all(matchOf(organization, model, metadata), organization, cursor, limit)
  return model === undefined
    ? all.all(organization, cursor, limit)
    : ofModel.all(organization, model, cursor, limit)
}

/** SQL condition: the completion is valid JSON. A damaged one would break a reply that contains it. */
export const readable = '(json_valid(completion) AND json_valid(metadata))'

function prepareOrder(sqlite: Database['sqlite'], comparison: '<' | '>', order: 'ASC' | 'DESC') {
  const columns =
    'completions.id, octet_length(completions.completion) + octet_length(completions.metadata) bytes'
  const page = (name: string) => `${name} ${comparison} ? ORDER BY ${name} ${order} LIMIT ?`
  return {
    all: sqlite.prepare<FoundCompletion, [string, number, number]>(
      `SELECT ${columns} FROM completions WHERE organization_id = ? AND ${page('sequence')}`,
    ),
    ofModel: sqlite.prepare<FoundCompletion, [string, string, number, number]>(
      `SELECT ${columns} FROM completions WHERE organization_id = ? AND model = ? AND ${page('sequence')}`,
    ),
    // A cross join fixes the order of the tables: the search terms find the rows.
    matching: sqlite.prepare<FoundCompletion, [string, string, number, number]>(
      `SELECT ${columns} FROM completion_terms CROSS JOIN completions ON sequence = completion_terms.rowid
       WHERE completion_terms MATCH ? AND organization_id = ? AND ${page('completion_terms.rowid')}`,
    ),
  }
}

import type { Hold } from '../lib/memory-budget.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { countOnPage } from '../lib/page-bytes.ts'
import type { Database } from './database.ts'
import { matchOf, type MetadataPair } from './completion-terms.ts'
import { read } from './outage.ts'
import { sequenceOf } from './sequence.ts'

/** Which completions of an organization a page tells. */
export type CompletionQuery = {
  readonly organization: string
  readonly model?: string | undefined
  /** The completion has them all. */
  readonly metadata: readonly MetadataPair[]
  /** The id of the completion before the page, which need not exist. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** A completion that was stored, as the JSON that was written of it. */
export type StoredCompletion = {
  readonly id: string
  /** Without its metadata. */
  readonly completion: string
  readonly metadata: string
}

export type CompletionPage = {
  readonly completions: readonly StoredCompletion[]
  /** Whether others follow. */
  readonly more: boolean
}

/** Reads pages by an index each; no page reads the messages, or a completion that is not on it. */
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

  function boundOf({ after, order, organization }: CompletionQuery): number {
    const outside = order === 'asc' ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
    if (after === undefined) return outside
    // Where there is no such completion its id still tells where it would be.
    return position.get(after, organization)?.sequence ?? sequenceOf(after) ?? outside
  }

  return async function list(query, hold) {
    const found = await read(() => rowsOf(query, statements[query.order], boundOf(query), query.limit + 1))
    const onPage = found.slice(0, countOnPage(found.slice(0, query.limit).map(({ bytes }) => bytes)))
    await hold?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
    const completions = await loaded(onPage, ({ id }) => read(() => one.get(id, query.organization)))
    const more = found.length > onPage.length
    const last = onPage.at(-1)
    // All of them were deleted meanwhile: a page that ends before the list does has an end to go on from.
    if (completions.length === 0 && more && last) return await list({ ...query, after: last.id }, hold)
    return { completions, more }
  }
}

type CompletionList = (query: CompletionQuery, hold?: Hold) => Promise<CompletionPage>

type FoundCompletion = { readonly id: string; readonly bytes: number }

/** Bytes that are read in one turn of the event loop. */
const sliceBytes = 2 * 1024 * 1024

async function loaded(
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
  bound: number,
  most: number,
): FoundCompletion[] {
  if (metadata.length > 0)
    return matching.all(matchOf(organization, model, metadata), organization, bound, most)
  return model === undefined
    ? all.all(organization, bound, most)
    : ofModel.all(organization, model, bound, most)
}

/** SQL for a completion that can be put into a reply: a damaged one would break what stands beside it. */
export const readable = '(json_valid(completion) AND json_valid(metadata))'

function prepareOrder(sqlite: Database['sqlite'], beyond: '<' | '>', order: 'ASC' | 'DESC') {
  const columns =
    'completions.id, octet_length(completions.completion) + octet_length(completions.metadata) bytes'
  const page = (name: string) => `${name} ${beyond} ? ORDER BY ${name} ${order} LIMIT ?`
  return {
    all: sqlite.prepare<FoundCompletion, [string, number, number]>(
      `SELECT ${columns} FROM completions WHERE organization_id = ? AND ${page('sequence')}`,
    ),
    ofModel: sqlite.prepare<FoundCompletion, [string, string, number, number]>(
      `SELECT ${columns} FROM completions WHERE organization_id = ? AND model = ? AND ${page('sequence')}`,
    ),
    // A cross join keeps the order of the tables: the terms find the rows.
    matching: sqlite.prepare<FoundCompletion, [string, string, number, number]>(
      `SELECT ${columns} FROM completion_terms CROSS JOIN completions ON sequence = completion_terms.rowid
       WHERE completion_terms MATCH ? AND organization_id = ? AND ${page('completion_terms.rowid')}`,
    ),
  }
}

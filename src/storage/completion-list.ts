import type { Database } from './database.ts'
import { matchOf, type MetadataPair } from './completion-terms.ts'
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

/** Reads pages by an index each; no page reads the messages. */
export function prepareCompletionList({ sqlite }: Database): (query: CompletionQuery) => CompletionPage {
  const position = sqlite.prepare<Position, [string, string]>(
    'SELECT sequence FROM completions WHERE id = ? AND organization_id = ?',
  )
  const statements = { asc: prepareOrder(sqlite, '>', 'ASC'), desc: prepareOrder(sqlite, '<', 'DESC') }

  function boundOf({ after, order, organization }: CompletionQuery): number {
    const outside = order === 'asc' ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
    if (after === undefined) return outside
    // Where there is no such completion its id still tells where it would be.
    return position.get(after, organization)?.sequence ?? sequenceOf(after) ?? outside
  }

  return (query) => {
    const found = rowsOf(query, statements[query.order], boundOf(query), query.limit + 1)
    return { completions: found.slice(0, query.limit), more: found.length > query.limit }
  }
}

type Position = { readonly sequence: number }

type Statements = ReturnType<typeof prepareOrder>

function rowsOf(
  { organization, model, metadata }: CompletionQuery,
  { all, ofModel, matching }: Statements,
  bound: number,
  most: number,
): StoredCompletion[] {
  if (metadata.length > 0)
    return matching.all(matchOf(organization, model, metadata), organization, bound, most)
  return model === undefined
    ? all.all(organization, bound, most)
    : ofModel.all(organization, model, bound, most)
}

/** SQL for a completion that can be put into a reply: a damaged one would break what stands beside it. */
export const readable = '(json_valid(completion) AND json_valid(metadata))'

function prepareOrder(sqlite: Database['sqlite'], beyond: '<' | '>', order: 'ASC' | 'DESC') {
  const columns = 'completions.id, completions.completion, completions.metadata'
  const page = (name: string) => `${name} ${beyond} ? AND ${readable} ORDER BY ${name} ${order} LIMIT ?`
  return {
    all: sqlite.prepare<StoredCompletion, [string, number, number]>(
      `SELECT ${columns} FROM completions WHERE organization_id = ? AND ${page('sequence')}`,
    ),
    ofModel: sqlite.prepare<StoredCompletion, [string, string, number, number]>(
      `SELECT ${columns} FROM completions WHERE organization_id = ? AND model = ? AND ${page('sequence')}`,
    ),
    // A cross join keeps the order of the tables: the terms find the rows.
    matching: sqlite.prepare<StoredCompletion, [string, string, number, number]>(
      `SELECT ${columns} FROM completion_terms CROSS JOIN completions ON sequence = completion_terms.rowid
       WHERE completion_terms MATCH ? AND organization_id = ? AND ${page('completion_terms.rowid')}`,
    ),
  }
}

import { and, eq, type SQL, sql } from 'drizzle-orm'
import { matchOf } from '../common/completion-terms.ts'
import type { FoundRow } from '../common/row-slices.ts'
import { type CompletionQuery, sequenceOf } from '../ports/completions.ts'
import { completions } from '../schema/stored.ts'
import type { CompletionSearch } from '../scripts/completions.ts'
import { select } from '../sql.ts'
import { execute, type Parameters, type Script, statement } from '../statement.ts'

/** Finds completions by the GIN index of their `terms`, a column that SQLite does not have. */
export const completionSearch: CompletionSearch = {
  find: findCompletions,
  *replaceTerms({ id }, terms) {
    yield* updateTerms({ id, terms: termsArray(terms) })
  },
}

const updateTerms = statement(
  (values: Parameters<{ id: string; terms: string }>) =>
    sql<never>`update ${completions} set terms = ${values.terms} where ${eq(completions.id, values.id)}`,
)

/** Converts search terms to the text of an array of UUIDs. */
export function termsArray(terms: string): string {
  return `{${terms.replaceAll(' ', ',')}}`
}

/** The rows that are compared with the metadata in their order, and the most matches that are sorted. */
const maxCompared = sql.raw('2000')
const maxSorted = 5000

/**
 * The server cannot know how many rows have several pairs of metadata together: it would read all rows in their order for
 * pairs that never meet, or sort all rows for pairs that often do. So a few rows are compared first, and then the index of
 * the terms is asked; only if that finds too many does the server decide.
 */
function* findCompletions(query: CompletionQuery, limit: number): Script<readonly FoundRow[]> {
  const page = pageOf(query, limit)
  if (query.metadata.length > 0) {
    const first = yield* execute(() => compared(page))
    if (first.length >= limit) return first
    const sorted = yield* execute(() => matching(page))
    if ((sorted[0]?.matches ?? 0) <= maxSorted) return sorted
  }
  return yield* execute(() => selected(page))
}

type Page = {
  /** The condition of the list without the terms. */
  readonly condition: SQL | undefined
  /** The terms of the metadata and of the model, if there is metadata. */
  readonly terms: SQL | undefined
  readonly order: SQL
  readonly limit: number
}

function pageOf({ organization, model, metadata, after, order }: CompletionQuery, limit: number): Page {
  const [follows, direction] = order === 'asc' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
  // The id of a deleted completion still has a sequence; a cursor without one is ignored.
  const cursor = after === undefined ? undefined : sequenceOf(after)
  const withTerms = metadata.length > 0
  return {
    condition: and(
      eq(completions.organization_id, organization),
      withTerms || model === undefined ? undefined : eq(completions.model, model),
      cursor === undefined
        ? undefined
        : sql`(${completions.sequence}, ${completions.id}) ${follows} (${cursor}, ${after})`,
    ),
    terms: withTerms ? sql`${termsArray(matchOf(organization, model, metadata))}::uuid[]` : undefined,
    order: sql`order by sequence ${direction}, id ${direction}`,
    limit,
  }
}

const fields = {
  id: completions.id,
  sequence: completions.sequence,
  terms: sql`terms`,
  bytes: sql<number>`octet_length(${completions.completion}) + octet_length(${completions.metadata})`,
}

function compared({ condition, terms, order, limit }: Page): SQL<FoundRow> {
  const first = select(fields, sql`from ${completions} where ${condition} ${order} limit ${maxCompared}`)
  return sql`select id, bytes from (${first}) as compared where terms @> ${terms} ${order} limit ${limit}`
}

/** As a subquery, the terms are unknown to the planner, which then expects few rows and uses their index. */
function matching({ condition, terms, order, limit }: Page): SQL<FoundRow & { readonly matches: number }> {
  const found = select(
    fields,
    sql`from ${completions} where ${condition} and terms @> (select ${terms}) limit ${maxSorted + 1}`,
  )
  return sql`with matching as materialized (${found})
    select id, bytes, (select count(*) from matching) as matches from matching ${order} limit ${limit}`
}

function selected({ condition, terms, order, limit }: Page): SQL<FoundRow> {
  return select(
    { id: fields.id, bytes: fields.bytes },
    sql`from ${completions} where ${and(condition, terms && sql`terms @> ${terms}`)} ${order} limit ${limit}`,
  )
}

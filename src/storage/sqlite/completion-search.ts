import { eq, type SQL, sql } from 'drizzle-orm'
import { matchOf } from '../common/completion-terms.ts'
import { toCompletionRow } from '../common/new-rows.ts'
import type { FoundRow } from '../common/row-slices.ts'
import { type CompletionQuery, type NewCompletion, sequenceOf } from '../ports/completions.ts'
import { organizations } from '../schema/organizations.ts'
import { completions } from '../schema/stored.ts'
import type { CompletionSearch } from '../scripts/completions.ts'
import { exists } from '../scripts/organizations.ts'
import { bare, insertion, returning, select } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'

/** Part of a transaction: stores a completion and its search terms; stores nothing for a deleted organization. */
export function* insertCompletion(completion: NewCompletion): Script<void> {
  const { row, terms } = toCompletionRow(completion)
  // The organization may be deleted while its call runs; the call must not fail because of that.
  if ((yield* selectOwner({ organization: completion.organization })).length === 0) return
  // After a clock was set back, the sequence of an id may be taken.
  let { sequence } = row
  while ((yield* insertRow({ ...row, sequence })).length === 0) sequence++
  if (terms !== '') yield* setTerms({ sequence, terms })
}

/** Selects an organization, unless it is deleted. */
export const selectOwner = statement((values: Parameters<{ organization: string }>) =>
  select(
    { id: organizations.id },
    sql`from ${organizations} where ${eq(organizations.id, values.organization)} and ${exists}`,
  ),
)

const insertRow = insertion(
  completions,
  ['sequence', 'id', 'organization_id', 'model', 'metadata', 'completion', 'messages'],
  returning({ sequence: completions.sequence }, sql`on conflict (${bare(completions.sequence)}) do nothing`),
)

const setTerms = statement(
  (values: Parameters<{ sequence: number; terms: string }>) =>
    sql<never>`insert or replace into completion_terms (rowid, terms) values (${values.sequence}, ${values.terms})`,
)

const deleteTerms = statement(
  (values: Parameters<{ sequence: number }>) =>
    sql<never>`delete from completion_terms where rowid = ${values.sequence}`,
)

/** Finds completions by the FTS5 table `completion_terms`, whose row ids are their sequences. */
export const completionSearch: CompletionSearch = {
  *find(query, limit) {
    const { organization, model, metadata, order } = query
    const page = { organization, limit, cursor: yield* cursorOf(query) }
    const { all, ofModel, matching } = pages[order]
    if (metadata.length > 0)
      return yield* matching({ ...page, terms: matchOf(organization, model, metadata) })
    return model === undefined ? yield* all(page) : yield* ofModel({ ...page, model })
  },
  *replaceTerms({ sequence }, terms) {
    yield* terms === '' ? deleteTerms({ sequence }) : setTerms({ sequence, terms })
  },
}

function* cursorOf({ after, order, organization }: CompletionQuery): Script<number> {
  const start = order === 'asc' ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
  if (after === undefined) return start
  const [row] = yield* selectSequence({ id: after, organization })
  // The id of a deleted completion still has a sequence.
  return row?.sequence ?? sequenceOf(after) ?? start
}

const selectSequence = statement((values: Parameters<{ id: string; organization: string }>) =>
  select(
    { sequence: completions.sequence },
    sql`from ${completions} where ${eq(completions.id, values.id)}
      and ${eq(completions.organization_id, values.organization)}`,
  ),
)

const pages = { asc: definePages(sql`>`, sql`asc`), desc: definePages(sql`<`, sql`desc`) }

type Page = { readonly organization: string; readonly cursor: number; readonly limit: number }

function definePages(follows: SQL, direction: SQL) {
  const page = (position: SQL, values: Parameters<Page>) =>
    sql`${position} ${follows} ${values.cursor} order by ${position} ${direction} limit ${values.limit}`
  return {
    all: statement((values: Parameters<Page>) =>
      selectFound(sql`from ${completions} where ${ofOrganization(values)} and ${page(sequence, values)}`),
    ),
    ofModel: statement((values: Parameters<Page & { model: string }>) =>
      selectFound(
        sql`from ${completions} where ${ofOrganization(values)} and ${eq(completions.model, values.model)}
          and ${page(sequence, values)}`,
      ),
    ),
    // A cross join fixes the order of the tables: the search terms find the rows.
    matching: statement((values: Parameters<Page & { terms: string }>) =>
      selectFound(
        sql`from completion_terms cross join ${completions} on ${sequence} = completion_terms.rowid
          where completion_terms match ${values.terms} and ${ofOrganization(values)}
          and ${page(sql`completion_terms.rowid`, values)}`,
      ),
    ),
  }
}

const sequence = sql`${completions.sequence}`

function ofOrganization(values: Parameters<Page>): SQL {
  return eq(completions.organization_id, values.organization)
}

function selectFound(rest: SQL): SQL<FoundRow> {
  const bytes = sql<number>`octet_length(${completions.completion}) + octet_length(${completions.metadata})`
  return select({ id: completions.id, bytes }, rest)
}

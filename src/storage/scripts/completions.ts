import { eq, type SQL, sql } from 'drizzle-orm'
import { type Fields, parseJson } from '../../lib/json/json.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { countOnPage } from '../../lib/page-bytes.ts'
import { termsOf } from '../common/completion-terms.ts'
import { type FoundRow, readSlices } from '../common/row-slices.ts'
import { oneStep } from '../common/store-limits.ts'
import {
  type CompletionPage,
  type CompletionQuery,
  type Completions,
  sequenceAt,
  type StoredCompletion,
} from '../ports/completions.ts'
import { UnreadableError } from '../ports/stored-json.ts'
import { completions } from '../schema/stored.ts'
import { returning, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'

/** The index of the metadata, which each database has in its own way. */
export type CompletionSearch = {
  /** Finds the completions of a page by an index, in its order, without reading their texts. */
  find(query: CompletionQuery, limit: number): Script<readonly FoundRow[]>
  /** Replaces the search terms of a completion. */
  replaceTerms(completion: { readonly id: string; readonly sequence: number }, terms: string): Script<void>
}

/** The stored completions in a database. */
export function createCompletions({ read, transact }: ScriptRunner, search: CompletionSearch): Completions {
  async function acquireFor(
    part: 'completion' | 'messages',
    organization: string,
    id: string,
    acquireMemory?: AcquireMemory,
  ): Promise<void> {
    if (acquireMemory === undefined) return
    const [sizes] = await read(() => selectSizes({ organization, id }))
    await acquireMemory(sizes?.[part] ?? 0)
  }

  return {
    async find(organization, id, acquireMemory) {
      await acquireFor('completion', organization, id, acquireMemory)
      const [row] = await read(() => selectOne({ organization, id }))
      return row && requireReadable(row)
    },
    async findMessages(organization, id, acquireMemory) {
      await acquireFor('messages', organization, id, acquireMemory)
      const [row] = await read(() => selectMessages({ organization, id }))
      return row?.messages
    },
    list: (query, acquireMemory) => listCompletions(query, read, search, acquireMemory),
    async updateMetadata(organization, id, metadata, acquireMemory) {
      await acquireFor('completion', organization, id, acquireMemory)
      return await transact(() => updateMetadata(organization, id, metadata, search))
    },
    remove: async (organization, id) => (await transact(() => deleteOne({ organization, id }))).length > 0,
    expire: (before) => transact(() => expireCompletions(sequenceAt(before))),
  }
}

type OneKey = { readonly organization: string; readonly id: string }

const ofKey = (values: Parameters<OneKey>) =>
  sql`where ${eq(completions.id, values.id)} and ${eq(completions.organization_id, values.organization)}`

const storedFields = {
  id: completions.id,
  completion: completions.completion,
  metadata: completions.metadata,
}

const selectOne = statement((values: Parameters<OneKey>) =>
  select(storedFields, sql`from ${completions} ${ofKey(values)}`),
)

/** `octet_length` does not read the text. */
const selectSizes = statement((values: Parameters<OneKey>) =>
  select(
    {
      completion: sql<number>`octet_length(${completions.completion}) + octet_length(${completions.metadata})`,
      messages: sql<number>`octet_length(${completions.messages})`,
    },
    sql`from ${completions} ${ofKey(values)}`,
  ),
)

const selectMessages = statement((values: Parameters<OneKey>) =>
  select({ messages: completions.messages }, sql`from ${completions} ${ofKey(values)}`),
)

const deleteOne = statement((values: Parameters<OneKey>) =>
  returning({ id: completions.id }, sql`delete from ${completions} ${ofKey(values)}`),
)

/** The bytes of completions that are read and checked in one turn of the event loop. */
const slice = { maxRows: Infinity, maxBytes: 2 * 1024 * 1024 }

/** Omits damaged completions, and those that are deleted meanwhile. */
async function listCompletions(
  query: CompletionQuery,
  read: ScriptRunner['read'],
  search: CompletionSearch,
  acquireMemory?: AcquireMemory,
): Promise<CompletionPage> {
  const { organization, limit } = query
  const found = await read(() => search.find(query, limit + 1))
  const onPage = found.slice(0, countOnPage(found.slice(0, limit).map(({ bytes }) => bytes)))
  await acquireMemory?.(onPage.reduce((sum, { bytes }) => sum + bytes, 0))
  const slices = readSlices(onPage, slice, (ids) => read(() => selectListed({ organization, ids })))
  const completions: StoredCompletion[] = []
  for await (const rows of slices)
    completions.push(...rows.filter((row) => row !== undefined).filter(isReadable))
  const more = found.length > onPage.length
  const last = onPage.at(-1)
  // All rows of the page were deleted meanwhile, and an empty page has no cursor for the next one.
  if (completions.length === 0 && more && last)
    return await listCompletions({ ...query, after: last.id }, read, search, acquireMemory)
  return { completions, hasMore: more }
}

/** A cross join, because SQLite would otherwise search all completions of the organization for the ids. */
const selectListed = statement(
  (values: Parameters<{ organization: string; ids: readonly string[] }>, { rowsOf }) =>
    select(
      storedFields,
      sql`from ${rowsOf(values.ids, 'ids')} cross join ${completions}
        where ${completions.id} = ids.value and ${eq(completions.organization_id, values.organization)}`,
    ),
)

function requireReadable(row: StoredCompletion): StoredCompletion {
  if (!isReadable(row)) throw new UnreadableError(`completion ${row.id}`)
  return row
}

/** Whether both texts are JSON: a damaged completion would break a reply that contains it. */
function isReadable({ completion, metadata }: StoredCompletion): boolean {
  return parseJson(completion) !== undefined && parseJson(metadata) !== undefined
}

function* updateMetadata(
  organization: string,
  id: string,
  metadata: Fields,
  search: CompletionSearch,
): Script<StoredCompletion | undefined> {
  const [row] = yield* setMetadata({ organization, id, metadata: JSON.stringify(metadata) })
  if (row === undefined) return undefined
  const { model, sequence, ...stored } = row
  yield* search.replaceTerms({ id, sequence }, termsOf(organization, model, metadata))
  return requireReadable(stored)
}

const setMetadata = statement((values: Parameters<OneKey & { metadata: string }>) =>
  update(
    completions,
    { metadata: values.metadata },
    returning({ ...storedFields, model: completions.model, sequence: completions.sequence }, ofKey(values)),
  ),
)

/** The most rows of one step; fewer than of other tables, because each row also has entries in the search index. */
const maxRows = 100

const { sequence } = completions

/** Deletes some completions with lower sequences, oldest first; returns their number: 0 if none are left. */
const expireCompletions = deleteOldest((before) => sql`${sequence} < ${before}`)

/** Does the same with those of an organization. */
export const deleteCompletionsOf = deleteOldest((id) => sql`${completions.organization_id} = ${id}`)

function deleteOldest(isSelected: (value: SQL) => SQL) {
  const selectOldest = statement(({ value }: Parameters<{ value: string | number }>) =>
    select(
      {
        sequence,
        bytes: sql<number>`octet_length(${completions.completion}) + octet_length(${completions.messages})`,
      },
      sql`from ${completions} where ${isSelected(value)} order by ${sequence} limit ${maxRows}`,
    ),
  )
  const deleteUpTo = statement(
    ({ value, last }: Parameters<{ value: string | number; last: number }>) =>
      sql<never>`delete from ${completions} where ${isSelected(value)} and ${sequence} <= ${last}`,
  )
  return function* (value: string | number): Script<number> {
    const oldest = oneStep(yield* selectOldest({ value }))
    const last = oldest.at(-1)
    if (last !== undefined) yield* deleteUpTo({ value, last: last.sequence })
    return oldest.length
  }
}

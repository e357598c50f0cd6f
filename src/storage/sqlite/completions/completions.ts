import type { Fields } from '../../../lib/json/json.ts'
import type { Hold } from '../../../lib/memory-budget.ts'
import {
  type CompletionPage,
  type CompletionQuery,
  prepareCompletionList,
  readable,
  type StoredCompletion,
} from './completion-list.ts'
import { prepareCompletionSteps } from './completion-steps.ts'
import { termsOf } from './completion-terms.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'
import { read } from '../sqlite-errors.ts'
import { sequenceOf } from '../sequence.ts'
import { UnreadableError } from '../../stored-json.ts'
import type { Writer } from '../writer/writer.ts'

/**
 * The chat completions that were asked to be kept, each for its organization alone. A `hold` is called with the bytes of
 * what was found before any of them is read.
 */
export type Completions = {
  /** Part of a transaction. Keeps nothing for an organization that is gone. */
  insert(completion: NewCompletion): void
  /** Rejects with `UnreadableError` where what is stored is damaged; a list goes on without it. */
  find(organization: string, id: string, hold?: Hold): Promise<StoredCompletion | undefined>
  /** The messages of its request, as JSON. */
  messages(organization: string, id: string, hold?: Hold): Promise<string | undefined>
  list(query: CompletionQuery, hold?: Hold): Promise<CompletionPage>
  /** Puts other metadata in the place of all there was. */
  updateMetadata(
    organization: string,
    id: string,
    metadata: Fields,
    hold?: Hold,
  ): Promise<StoredCompletion | undefined>
  /** False where there is none. */
  remove(organization: string, id: string): Promise<boolean>
  /** Deletes some of those that are older than this moment, and tells how many; none where none is left. */
  expire(before: number): Promise<number>
}

export type NewCompletion = {
  /** One that `sequenceOf` can read. */
  readonly id: string
  readonly organization: string
  readonly model: string
  readonly metadata: Fields
  /** As it was told, without the metadata. */
  readonly completion: object
  /** Those of the request, as they came. */
  readonly messages: readonly object[]
}

export function createCompletions(database: Database, writer: Writer): Completions {
  const statements = prepareStatements(database)
  const list = prepareCompletionList(database)
  const { expire } = prepareCompletionSteps(database)

  const sizesOf = (organization: string, id: string) =>
    read(() => statements.sizes.get(id, organization) ?? { completion: 0, messages: 0 })

  function updateNow(organization: string, id: string, metadata: Fields): StoredCompletion | undefined {
    const row = statements.update.get(JSON.stringify(metadata), id, organization)
    if (row === null) return undefined
    if (!row.readable) throw new UnreadableError(`completion ${id}`)
    statements.changeTerms.run(termsOf(organization, row.model, metadata), row.sequence)
    return { id, completion: row.completion, metadata: row.metadata }
  }

  return {
    insert: (completion) => insertNow(completion, statements),
    async find(organization, id, hold) {
      if (hold) await hold((await sizesOf(organization, id)).completion)
      return await read(() => findNow(organization, id, statements))
    },
    async messages(organization, id, hold) {
      if (hold) await hold((await sizesOf(organization, id)).messages)
      return await read(() => statements.messages.get(id, organization)?.messages)
    },
    list,
    async updateMetadata(organization, id, metadata, hold) {
      if (hold) await hold((await sizesOf(organization, id)).completion)
      return await writer.write(() => updateNow(organization, id, metadata))
    },
    remove: (organization, id) => writer.write(() => statements.remove.run(id, organization).changes > 0),
    expire: (before) => writer.write(() => expire(before)),
  }
}

type Statements = ReturnType<typeof prepareStatements>

function insertNow(completion: NewCompletion, statements: Statements): void {
  const { id, organization, model, metadata } = completion
  const first = sequenceOf(id)
  if (first === undefined) throw new Error('A completion is stored under an id that has no place in time.')
  // The organization may be deleted while its call runs, which is no fault of that call.
  if (statements.owner.get(organization) === null) return
  const columns = [metadata, completion.completion, completion.messages].map((value) => JSON.stringify(value))
  // A clock that was set back may tell the same time again.
  let sequence = first
  while (statements.insert.run(sequence, id, organization, model, ...columns).changes === 0) sequence++
  statements.insertTerms.run(sequence, termsOf(organization, model, metadata))
}

function findNow(organization: string, id: string, { find }: Statements): StoredCompletion | undefined {
  const row = find.get(id, organization)
  if (row === null) return undefined
  if (!row.readable) throw new UnreadableError(`completion ${id}`)
  return { id, completion: row.completion, metadata: row.metadata }
}

/** Statements of their own: the query builder would read the JSON, which is sent on as it is. */
function prepareStatements({ sqlite }: Database) {
  const one = 'WHERE id = ? AND organization_id = ?'
  return {
    owner: sqlite.prepare<object, [string]>(
      `SELECT 1 FROM organizations WHERE id = ? AND ${organizationExistsSql}`,
    ),
    insert: sqlite.prepare<unknown, [number, ...string[]]>(
      `INSERT INTO completions (sequence, id, organization_id, model, metadata, completion, messages)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sequence) DO NOTHING`,
    ),
    insertTerms: sqlite.prepare<unknown, [number, string]>(
      'INSERT INTO completion_terms (rowid, terms) VALUES (?, ?)',
    ),
    find: sqlite.prepare<FoundRow, [string, string]>(
      `SELECT id, completion, metadata, ${readable} readable FROM completions ${one}`,
    ),
    sizes: sqlite.prepare<{ readonly completion: number; readonly messages: number }, [string, string]>(
      `SELECT octet_length(completion) + octet_length(metadata) completion, octet_length(messages) messages
       FROM completions ${one}`,
    ),
    messages: sqlite.prepare<{ readonly messages: string }, [string, string]>(
      `SELECT messages FROM completions ${one}`,
    ),
    update: sqlite.prepare<UpdatedRow, [string, string, string]>(
      `UPDATE completions SET metadata = ? ${one} RETURNING sequence, model, completion, metadata, ${readable} readable`,
    ),
    changeTerms: sqlite.prepare<unknown, [string, number]>(
      'UPDATE completion_terms SET terms = ? WHERE rowid = ?',
    ),
    remove: sqlite.prepare<unknown, [string, string]>(`DELETE FROM completions ${one}`),
  }
}

type FoundRow = StoredCompletion & { readonly readable: 0 | 1 }
type UpdatedRow = Omit<FoundRow, 'id'> & { readonly sequence: number; readonly model: string }

import type { Fields } from '../../../lib/json/json.ts'
import type { Completions, StoredCompletion } from '../../ports/completions.ts'
import { prepareCompletionList, readable } from './completion-list.ts'
import { prepareCompletionDeletion } from './completion-deletion.ts'
import { termsOf } from '../../common/completion-terms.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import { UnreadableError } from '../../ports/stored-json.ts'
import type { Writer } from '../writer/writer.ts'

/** The stored completions in the SQLite database. */
export function createCompletions(database: Database, writer: Writer): Completions {
  const statements = prepareStatements(database)
  const list = prepareCompletionList(database)
  const { expire } = prepareCompletionDeletion(database)

  const sizesOf = (organization: string, id: string) =>
    read(() => statements.sizes.get(id, organization) ?? { completion: 0, messages: 0 })

  function updateNow(organization: string, id: string, metadata: Fields): StoredCompletion | undefined {
    const row = statements.update.get(JSON.stringify(metadata), id, organization)
    if (row === null) return undefined
    if (!row.readable) throw new UnreadableError(`completion ${id}`)
    statements.updateTerms.run(termsOf(organization, row.model, metadata), row.sequence)
    return { id, completion: row.completion, metadata: row.metadata }
  }

  return {
    async find(organization, id, hold) {
      if (hold) await hold((await sizesOf(organization, id)).completion)
      return await read(() => findNow(organization, id, statements))
    },
    async findMessages(organization, id, hold) {
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

function findNow(organization: string, id: string, { find }: Statements): StoredCompletion | undefined {
  const row = find.get(id, organization)
  if (row === null) return undefined
  if (!row.readable) throw new UnreadableError(`completion ${id}`)
  return { id, completion: row.completion, metadata: row.metadata }
}

/** Plain statements, because the query builder would parse the JSON, which is sent to the client unread. */
function prepareStatements({ sqlite }: Database) {
  const one = 'WHERE id = ? AND organization_id = ?'
  return {
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
    updateTerms: sqlite.prepare<unknown, [string, number]>(
      'UPDATE completion_terms SET terms = ? WHERE rowid = ?',
    ),
    remove: sqlite.prepare<unknown, [string, string]>(`DELETE FROM completions ${one}`),
  }
}

type FoundRow = StoredCompletion & { readonly readable: 0 | 1 }
type UpdatedRow = Omit<FoundRow, 'id'> & { readonly sequence: number; readonly model: string }

import { termsOf } from '../../common/completion-terms.ts'
import type { Completions, StoredCompletion } from '../../ports/completions.ts'
import { UnreadableError } from '../../ports/stored-json.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { termsArray } from '../writes.ts'
import { createCompletionList, isReadable } from './completion-list.ts'
import { stepBytes } from '../../common/step-size.ts'
import { sequenceAt } from '../../ports/completion-sequence.ts'

/** The stored completions in the PostgreSQL database. */
export function createCompletions(database: Database): Completions {
  const { query, transact } = database

  async function sizesOf(organization: string, id: string): Promise<Sizes> {
    const [sizes] = await query<Sizes>(selectSizes, [id, organization])
    return sizes ?? { completion: 0, messages: 0 }
  }

  return {
    async find(organization, id, hold) {
      if (hold) await hold((await sizesOf(organization, id)).completion)
      const [row] = await query<StoredCompletion>(selectOne, [id, organization])
      return row && requireReadable(row)
    },
    async findMessages(organization, id, hold) {
      if (hold) await hold((await sizesOf(organization, id)).messages)
      const [row] = await query<{ readonly messages: string }>(`SELECT messages FROM completions ${one}`, [
        id,
        organization,
      ])
      return row?.messages
    },
    list: createCompletionList(query),
    async updateMetadata(organization, id, metadata, hold) {
      if (hold) await hold((await sizesOf(organization, id)).completion)
      const text = JSON.stringify(metadata)
      const terms = (model: string) => termsArray(termsOf(organization, model, metadata))
      return await transact((query) => updateMetadata(query, { organization, id, text, terms }))
    },
    async remove(organization, id) {
      return await transact(async (query) => {
        const removed = await query(`DELETE FROM completions ${one} RETURNING id`, [id, organization])
        return removed.length > 0
      })
    },
    expire: createCompletionExpiry(query),
  }
}

type Update = {
  readonly organization: string
  readonly id: string
  readonly text: string
  readonly terms: (model: string) => string
}

async function updateMetadata(
  query: Query,
  { organization, id, text, terms }: Update,
): Promise<StoredCompletion | undefined> {
  const [row] = await query<StoredCompletion & { readonly model: string }>(
    `UPDATE completions SET metadata = $3 ${one} RETURNING id, completion, metadata, model`,
    [id, organization, text],
  )
  if (row === undefined) return undefined
  const { model, ...stored } = row
  await query(`UPDATE completions SET terms = $3 ${one}`, [id, organization, terms(model)])
  return requireReadable(stored)
}

function requireReadable(row: StoredCompletion): StoredCompletion {
  if (!isReadable(row)) throw new UnreadableError(`completion ${row.id}`)
  return row
}

type Sizes = { readonly completion: number; readonly messages: number }

const one = 'WHERE id = $1 AND organization_id = $2'

const selectOne = `SELECT id, completion, metadata FROM completions ${one}`

/** `octet_length` does not read the text. */
const selectSizes = `SELECT octet_length(completion) + octet_length(metadata) completion,
  octet_length(messages) messages FROM completions ${one}`

/** The most rows of one step; fewer than of other tables, because each row also has entries in the search index. */
const maxRows = 100

/** Returns a function that deletes some completions that were created before this time, oldest first; see `Completions`. */
function createCompletionExpiry(query: Query): (before: number) => Promise<number> {
  return async (before) => {
    const [row] = await query<{ readonly deleted: number }>(deleteOldest, [sequenceAt(before)])
    return row?.deleted ?? 0
  }
}

/** As many as one step may delete: at least one, of any size. `octet_length` does not read the text. */
const deleteOldest = `WITH oldest AS (
    SELECT id, sequence, octet_length(completion) + octet_length(messages) bytes FROM completions
    WHERE sequence < $1 ORDER BY sequence, id LIMIT ${maxRows}),
  sized AS (
    SELECT id, row_number() OVER w position, sum(bytes) OVER w bytes FROM oldest WINDOW w AS (ORDER BY sequence, id)),
  deleted AS (
    DELETE FROM completions WHERE id IN (SELECT id FROM sized WHERE bytes <= ${stepBytes} OR position = 1) RETURNING 1)
  SELECT count(*) deleted FROM deleted`

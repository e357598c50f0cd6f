import type { Fields } from '../../lib/json/json.ts'
import type { PrintedJson } from '../../lib/json/printed.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'

/** A pair of metadata to filter a list by; values are compared as text. */
export type MetadataPair = readonly [key: string, value: string]

/** A page of the completions of an organization. */
export type CompletionQuery = {
  readonly organization: string
  readonly model?: string | undefined
  /** Only completions that have all of these pairs. */
  readonly metadata: readonly MetadataPair[]
  /** The id of the completion before the page; that completion may be deleted. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** A stored completion, as JSON texts. */
export type StoredCompletion = {
  readonly id: string
  /** The completion without its metadata. */
  readonly completion: string
  readonly metadata: string
}

export type CompletionPage = {
  readonly completions: readonly StoredCompletion[]
  /** Whether another page follows. */
  readonly hasMore: boolean
}

/**
 * The stored chat completions, by organization. `hold` is called with the size of a result in bytes before the result is
 * read. A completion is stored by a `Write`.
 */
export type Completions = {
  /** Rejects with `UnreadableError` if the stored completion is damaged; a list omits it. */
  find(organization: string, id: string, hold?: AcquireMemory): Promise<StoredCompletion | undefined>
  /** Returns the messages of the request, as JSON. */
  findMessages(organization: string, id: string, hold?: AcquireMemory): Promise<string | undefined>
  list(query: CompletionQuery, hold?: AcquireMemory): Promise<CompletionPage>
  /** Replaces all metadata. */
  updateMetadata(
    organization: string,
    id: string,
    metadata: Fields,
    hold?: AcquireMemory,
  ): Promise<StoredCompletion | undefined>
  /** Resolves with false if there is no such completion. */
  remove(organization: string, id: string): Promise<boolean>
  /** Deletes some of the completions that were created before this time, and resolves with their number: 0 if none are left. */
  expire(before: number): Promise<number>
}

export type NewCompletion = {
  /** An id that `sequenceOf` can read. */
  readonly id: string
  readonly organization: string
  readonly model: string
  readonly metadata: Fields
  /** The reply without the metadata. */
  readonly completion: object
  /** The messages of the request, as received. */
  readonly messages: readonly object[] | PrintedJson
}

/** Milliseconds since 1970: sequences count from 2020, so that they stay safe integers for decades. */
const epoch = Date.UTC(2020)

const idsPerMillisecond = 4096

const idPattern = /^chatcmpl-([0-9a-f]{12})7([0-9a-f]{3})[0-9a-f]{16}$/

/**
 * The position of a completion in the order of creation, from the time and the counter in its id. Undefined if the text
 * is not the id of a completion.
 */
export function sequenceOf(id: string): number | undefined {
  const [, milliseconds, counter] = idPattern.exec(id) ?? []
  if (milliseconds === undefined || counter === undefined) return undefined
  return sequenceAt(Number.parseInt(milliseconds, 16)) + Number.parseInt(counter, 16)
}

/** The lowest sequence that an id of this moment can have; milliseconds since 1970. */
export function sequenceAt(milliseconds: number): number {
  return (milliseconds - epoch) * idsPerMillisecond
}

import type { JsonObject } from '../../lib/json/json.ts'
import type { PrintedJson } from '../../lib/json/printed.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import type { MetadataPair } from './completions.ts'

export const responseStatuses = ['queued', 'in_progress', 'completed', 'failed', 'incomplete'] as const

export type ResponseStatus = (typeof responseStatuses)[number]

/**
 * The stored responses, by organization. A response that is deleted, or belongs to another organization, is treated as
 * missing. `acquireMemory` is called with the size of a result in bytes before the result is read. A response is stored, and
 * finished, by a `Write`.
 */
export type Responses = {
  /** Rejects with `UnreadableError` if the stored response is damaged, like the three below. */
  find(organization: string, id: string, acquireMemory?: AcquireMemory): Promise<StoredResponse | undefined>
  /** Returns the items of the request. */
  findInput(
    organization: string,
    id: string,
    acquireMemory?: AcquireMemory,
  ): Promise<readonly JsonObject[] | undefined>
  /** Returns a page of responses; damaged ones are omitted. Rejects with 503 if the filters take too long. */
  list(query: ResponseQuery, acquireMemory?: AcquireMemory): Promise<ResponsePage>
  /** Returns the stored request of a run that has not finished. */
  findRun(organization: string, id: string): Promise<JsonObject | undefined>
  /**
   * Returns a finished response after all its predecessors, oldest first. Predecessors may be deleted; the response
   * itself may not. Undefined if a predecessor was erased before this response was stored. Rejects with 400 if the chain
   * has too many responses, or too many bytes.
   */
  chain(
    organization: string,
    id: string,
    acquireMemory?: AcquireMemory,
  ): Promise<readonly ChainLink[] | undefined>
  /** The same for a response that has not finished, for its run: the last link is the response itself. */
  runContext(
    organization: string,
    id: string,
    acquireMemory?: AcquireMemory,
  ): Promise<readonly ChainLink[] | undefined>
  /**
   * Keeps a response from being erased, because another one is about to follow it: until then a removal only hides it.
   * Call the returned function when that one is about to be stored, or will not be; a second call does nothing.
   */
  pin(id: string): () => void
  /** Hides a response. It is erased, with its deleted predecessors, once no other response follows it. */
  remove(organization: string, id: string): Promise<RemovalResult>
  /**
   * Removes some of the finished responses that were created before this time in milliseconds, and erases what other
   * removals left. Resolves with their number: 0 if none are left. A step is small, because it delays other writes.
   */
  expire(before: number): Promise<number>
}

/** A stored response of an organization. */
export type ResponseKey = { readonly organization: string; readonly id: string }

/** A page of the responses of an organization. */
export type ResponseQuery = {
  readonly organization: string
  /** Only responses of the model with this slug. */
  readonly model?: string | undefined
  readonly status?: ResponseStatus | undefined
  /** Only responses whose metadata has all of these pairs. */
  readonly metadata: readonly MetadataPair[]
  /** The id of the response before the page; that response may be deleted. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export type ResponsePage = {
  readonly responses: readonly StoredResponse[]
  /** The place of the page's end, also if it has no readable response. */
  readonly last: string | undefined
  /** Whether another page follows. */
  readonly hasMore: boolean
}

/** A response to store: either finished, or with the request of a background run. */
export type NewResponse = {
  /** `resp_` and a time-sorted id. */
  readonly id: string
  readonly organization: string
  /** The response that it follows, of the same organization. */
  readonly previousId: string | undefined
  /** The fields that never change. */
  readonly head: JsonObject
  /** The items of its request, with references resolved. */
  readonly input: readonly JsonObject[] | PrintedJson
  /** The events so far. */
  readonly log: string
} & (
  | { readonly status: FinishedStatus }
  /** `run` is the stored request of the run. */
  | { readonly status: UnfinishedStatus; readonly run: JsonObject; readonly owner: RunOwner }
)

/** The process that is to run a background run, and the request that created it. */
export type RunOwner = { readonly process: string; readonly request: string }

export type UnfinishedStatus = 'queued' | 'in_progress'
export type FinishedStatus = Exclude<ResponseStatus, UnfinishedStatus>

/** The end of a run, with its complete log. One that was cancelled is incomplete. */
export type ResponseEnd = {
  readonly status: FinishedStatus
  readonly log: string
  readonly cancelled?: boolean
}

/** A stored response without its input. */
export type StoredResponse = {
  readonly id: string
  readonly status: ResponseStatus
  readonly head: JsonObject
  /** The events so far; while the response is in progress, the joined pieces of its log. */
  readonly log: string
  /** The number of pieces. */
  readonly pieces: number
}

/** The part of a response that belongs to a conversation. */
export type ChainLink = {
  readonly id: string
  readonly head: JsonObject
  readonly input: readonly JsonObject[]
  readonly log: string
}

/** The result of a removal; a response that is `running` has not finished, and stays. */
export type RemovalResult = 'removed' | 'missing' | 'running'

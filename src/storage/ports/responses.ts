import type { JsonObject } from '../../lib/json/json.ts'
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
  /** Sets a queued response to in progress; resolves with false if it is not queued, or missing. */
  start(organization: string, id: string): Promise<boolean>
  /**
   * Appends a piece to the log of a run in progress; does nothing if it has finished, or is missing, or has a piece at this
   * position already. It can be repeated after a failure.
   */
  append(organization: string, id: string, position: number, entries: string): Promise<void>
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
  /** Returns the order of a run that has not finished. */
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
  /**
   * Keeps the other processes of the database from erasing what this one has pinned, for ten seconds. Does nothing if there
   * are none.
   */
  postponeErasures(): Promise<void>
  /** Hides a response. It is erased, with its deleted predecessors, once no other response follows it. */
  remove(organization: string, id: string): Promise<RemovalResult>
  /**
   * Removes some of the finished responses that were created before this time in milliseconds, and erases what other
   * removals left. Resolves with their number: 0 if none are left. A step is small, because it delays other writes.
   */
  expire(before: number): Promise<number>
  /** Returns up to `limit` unfinished responses of all organizations whose ids are greater than `after`, by id. */
  unfinished(after: string, limit: number): Promise<readonly UnfinishedRun[]>
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

/** A response to store: either finished, or with an order for a background run. */
export type NewResponse = {
  /** `resp_` and a time-sorted id. */
  readonly id: string
  readonly organization: string
  /** The response that it follows, of the same organization. */
  readonly previousId: string | undefined
  /** The fields that never change. */
  readonly head: JsonObject
  /** The items of its request, with references resolved. */
  readonly input: readonly JsonObject[]
  /** The events so far. */
  readonly log: string
} & (
  | { readonly status: FinishedStatus }
  /** `run` is the order of the run. `owner` is absent for a process that does not share the database. */
  | { readonly status: UnfinishedStatus; readonly run: JsonObject; readonly owner?: RunOwner | undefined }
)

/** The process that is to run a background run, and the request that created it. */
export type RunOwner = { readonly process: string; readonly request: string }

export type UnfinishedStatus = 'queued' | 'in_progress'
export type FinishedStatus = Exclude<ResponseStatus, UnfinishedStatus>

/** The end of a run, with its complete log. */
export type ResponseEnd = { readonly status: FinishedStatus; readonly log: string }

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

/** A stored response whose run has not finished. */
export type UnfinishedRun = {
  readonly id: string
  readonly organization: string
  readonly status: UnfinishedStatus
  /** JSON text, which may be damaged: one damaged row must not keep the others from being read. */
  readonly head: string
  /** The order of the run as JSON text. */
  readonly run: string
  /** The events so far, with the pieces joined. */
  readonly log: string
}

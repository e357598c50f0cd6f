import type { JsonObject } from '../../lib/json/json.ts'
import type { Hold } from '../../lib/memory-budget.ts'
import type { ResponseStatus } from '../sqlite/tables.ts'

/**
 * The responses of organizations. Whatever the caller of a function may not see is to it as if it were not there. A `hold`
 * is called with the bytes of what was found before any of them is read.
 */
export type Responses = {
  /** Part of a transaction: keeps a new response. Keeps nothing for an organization that is gone. */
  insert(response: NewResponse): void
  /** Part of a transaction: the whole log of a run that is over; false where it was over before, or is gone. */
  finish(organization: string, id: string, end: ResponseEnd): boolean
  /** From queued to in progress; false where it is not queued, or gone. */
  start(organization: string, id: string): Promise<boolean>
  /** Adds the next piece of its log to a run that is in progress; does nothing where it is over, or gone. */
  append(organization: string, id: string, position: number, entries: string): Promise<void>
  /** Rejects with `UnreadableError` where what is stored is damaged, like the three below. */
  find(organization: string, id: string, hold?: Hold): Promise<StoredResponse | undefined>
  /** The items of its request. */
  findInput(organization: string, id: string, hold?: Hold): Promise<readonly JsonObject[] | undefined>
  /** What the run of a response that is not finished needs to begin. */
  findRun(organization: string, id: string): Promise<JsonObject | undefined>
  /**
   * A finished response behind all that it follows, oldest first: also what is deleted of those, but not where itself
   * is. Undefined, too, where one of them was erased before this one was stored. Rejects with 400 beyond
   * `mostLinks` or `mostChainBytes`.
   */
  chain(organization: string, id: string, hold?: Hold): Promise<readonly ChainLink[] | undefined>
  /** The same of a response that is not finished, for its run: it is the last link itself. */
  runContext(organization: string, id: string, hold?: Hold): Promise<readonly ChainLink[] | undefined>
  /**
   * From now on a removal hides the response with this id, and does not erase it: another one is about to follow it.
   * To be let go, once, when that one is on its way to be stored, or will not be.
   */
  hold(id: string): () => void
  /**
   * Nobody sees it from then on; it is erased, with the deleted ones before it, when no other response follows it.
   */
  remove(organization: string, id: string): Promise<Removal>
  /**
   * Removes some of the finished responses that were created before that time, in milliseconds, or erases what other
   * removals have left, and tells how many: 0 means that none is left. One step is small, because it holds up the
   * requests of its turn.
   */
  expire(before: number): Promise<number>
  /** Some of those that are not finished, of all organizations, in the order of their ids, from behind the given one. */
  unfinished(after: string, limit: number): readonly UnfinishedRun[]
}

/** A response to keep: it is finished, or has yet to be run. */
export type NewResponse = {
  /** `resp_` and a time-sorted id. */
  readonly id: string
  readonly organization: string
  /** The response that it follows, of the same organization. */
  readonly previousId: string | undefined
  /** What it says of itself from its beginning to its end. */
  readonly head: JsonObject
  /** The items of its request, references resolved. */
  readonly input: readonly JsonObject[]
  /** What has happened so far. */
  readonly log: string
} & (
  | { readonly status: FinishedStatus }
  /** `run` is what its run needs to begin. */
  | { readonly status: UnfinishedStatus; readonly run: JsonObject }
)

export type UnfinishedStatus = 'queued' | 'in_progress'
export type FinishedStatus = Exclude<ResponseStatus, UnfinishedStatus>

/** How a run ended, and all that happened in it. */
export type ResponseEnd = { readonly status: FinishedStatus; readonly log: string }

/** What is known of a response but its input. */
export type StoredResponse = {
  readonly id: string
  readonly status: ResponseStatus
  readonly head: JsonObject
  /** All that has happened so far: the pieces of its log joined, while it is in progress. */
  readonly log: string
}

/** What a response adds to a conversation. */
export type ChainLink = {
  readonly id: string
  readonly head: JsonObject
  readonly input: readonly JsonObject[]
  readonly log: string
}

/** What came of a removal; running is what is not finished: it stays. */
export type Removal = 'removed' | 'missing' | 'running'

/** A response whose run has yet to begin, or to end. */
export type UnfinishedRun = {
  readonly id: string
  readonly organization: string
  readonly status: UnfinishedStatus
  /** As JSON, which may be damaged: then the others are read all the same. */
  readonly head: string
  /** What the run needs to begin, as JSON. */
  readonly run: string
  /** All that has happened so far, pieces joined. */
  readonly log: string
}

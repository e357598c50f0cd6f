import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { BudgetKey } from './budgets.ts'
import type { NewCompletion } from './completions.ts'
import type { NewResponse, ResponseEnd } from './responses.ts'

/** Money that a request reserves before its cost is known. */
export type Reservation = {
  readonly request: RequestMetadata
  /** The highest cost that the request is expected to have. */
  readonly amount: Nanos
  /** False if only the budgets count the request, because its organization does not pay from a balance. */
  readonly prepaid?: boolean
  /** The budgets that it counts against; none by default. */
  readonly budgets?: readonly BudgetLimit[]
  /** The charge if the process dies and only the prompt is known. */
  readonly promptCost: Nanos
  readonly promptTokens: number
}

/** A budget in the period of a request, with its amount. */
export type BudgetLimit = BudgetKey & { readonly limit: Nanos }

/**
 * Why nothing was reserved: the balance, or the budget of this owner, has only `available` left, which is below zero if
 * requests cost more than they had reserved.
 */
export type ReservationRejection = { readonly budget: BudgetLimit | null; readonly available: Nanos }

/** The result of settling a request. */
export type Settlement = {
  /** False if nothing was written: the request is already settled, or its organization is deleted. */
  readonly recorded: boolean
  readonly charged: Nanos
}

export type SettleOptions = {
  readonly writes?: readonly Write[] | undefined
  /** False if the caller knows that the request has no reservation. */
  readonly reserved?: boolean
  /** False if the caller knows that its reservation is prepaid and counts against no budget. */
  readonly budgeted?: boolean
}

/**
 * Reserves, settles and charges the cost of requests. Unless it says otherwise, a promise resolves when its writes are
 * durable.
 */
export type Ledger = {
  /** Whether other processes settle what this one has left open, should they evict it. */
  readonly isShared: boolean
  /**
   * Reserves money for a request that is about to start from the balance and all of its budgets, and executes `writes` in
   * the same transaction. Resolves with the reason, and writes nothing, if one of them is too low: the balance first, then
   * the budgets in their order. Rejects with 503 if this process was evicted by the others.
   */
  reserve(reservation: Reservation, writes?: readonly Write[]): Promise<ReservationRejection | undefined>
  /**
   * Records the usage of a finished request, charges its reservation if there is one, to the balance and to the period of
   * its budgets in which it was reserved, and executes `writes` in the same transaction. Only the first settlement of a request counts; if one of its writes throws, the request is not settled.
   * If the database is unavailable the promise rejects, and the settlement is retried without the writes until it
   * succeeds. The writes of a complete answer are retried for some seconds before: if they fail, the promise rejects with
   * `response_not_stored`, which is then the outcome.
   */
  settle(request: RequestMetadata, outcome: Outcome, options?: SettleOptions): Promise<Settlement>
  /**
   * Records the usage of a finished request that has reserved nothing, soon and together with that of others, or when the
   * database is available again: a process that is killed may lose the last rows. Resolves at once.
   */
  recordUsage(request: RequestMetadata, outcome: Outcome): Promise<void>
  /**
   * Settles a request that no caller waits for. Retries with the writes while the database is unavailable; rejects with
   * any other error, or when the ledger is closed.
   */
  settleEventually(request: RequestMetadata, outcome: Outcome, writes?: readonly Write[]): Promise<Settlement>
  /**
   * Settles the reservations that processes which are gone left open, except those of unfinished runs, and resolves with
   * their number. Call it first at startup, before the first request.
   */
  recover(): Promise<number>
  /** Executes writes that need no reservation and no settlement in a transaction. */
  write(writes: readonly Write[]): Promise<void>
  /** Starts a last attempt of the settlements that could not be written. Call it before the writer is closed. */
  close(): void
}

/**
 * A row that is written in the same transaction as a reservation or a settlement. Writes are data, so that no function of the
 * gateway or of an API runs inside a transaction, and any store can execute them.
 */
export type Write =
  /** Stores a completion, unless its organization is deleted. */
  | { readonly kind: 'insert-completion'; readonly completion: NewCompletion }
  /** Stores a response, unless its organization is deleted. */
  | { readonly kind: 'insert-response'; readonly response: NewResponse }
  /** Stores the end of a background run; changes nothing if the run has finished or is deleted. */
  | {
      readonly kind: 'finish-response'
      readonly organization: string
      readonly id: string
      readonly end: ResponseEnd
    }

/** The list of a request that writes nothing but its usage; shared, so that such a request allocates none. */
export const noWrites: readonly Write[] = []

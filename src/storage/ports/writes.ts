import type { NewCompletion } from './completions.ts'
import type { NewResponse, ResponseEnd } from './responses.ts'

/**
 * What is written in the same transaction as a reservation or a settlement. Writes are data, so that no function of the
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

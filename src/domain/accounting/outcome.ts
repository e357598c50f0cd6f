import type { Usage } from '../generation/usage.ts'
import type { Nanos } from '../../lib/usd.ts'

/** How a request ended, and what it took. */
export type Outcome = {
  /** Absent where none was reached, like all that follows from an answer. */
  readonly provider?: string
  readonly upstreamModel?: string
  readonly usage?: Usage & { readonly estimated: boolean }
  /** Its price; absent where the model has none. */
  readonly cost?: Nanos
  /** Milliseconds from the request to the end of its reply, and to the first token. */
  readonly latency?: number
  readonly firstToken?: number
  /** The status of the reply; 499 where the caller left before it, 0 where nobody can know. */
  readonly status: number
  /** The code of what went wrong, also in the middle of a stream. */
  readonly error?: string
}

import type { Usage } from '../generation/usage.ts'
import type { Nanos } from '../../lib/usd.ts'

/** How a request ended, with its usage and cost. */
export type Outcome = {
  /** Absent if no provider was reached, like everything that a provider reports. */
  readonly provider?: string
  readonly upstreamModel?: string
  readonly usage?: Usage & { readonly estimated: boolean }
  /** Absent if the model has no price. */
  readonly cost?: Nanos
  /** Milliseconds from the request to the end of its reply, and to the first token. */
  readonly latency?: number
  readonly firstToken?: number
  /** The status of the reply; 499 if the client disconnected before it, 0 if the process died and it is unknown. */
  readonly status: number
  /** The code of the error, also of one in the middle of a stream. */
  readonly error?: string
}

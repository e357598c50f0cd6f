import type { Pricing } from '../../../../src/config/model-details.ts'
import type { Bodies } from './provider-bodies.ts'

/** The expected cost of a response. */
export type CostCase = {
  readonly name: string
  /** The kind of provider; with `responses` its other interface. */
  readonly kind: string
  readonly responses?: true
  readonly pricing: Pricing
  readonly bodies: Bodies
  /** Tokens and nano-dollars for each, in order: uncached prompt, cache read, write, one-hour write, output. */
  readonly parts: readonly (readonly [tokens: bigint, nanos: bigint])[]
  /** In nano-dollars, what is due for the request itself included. */
  readonly cost: bigint
}

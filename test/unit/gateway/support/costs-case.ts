import type { Pricing } from '../../../../src/config/model-facts.ts'
import type { Bodies } from './provider-bodies.ts'

/** What an answer has to cost. */
export type CostCase = {
  readonly name: string
  /** The kind of provider; with `responses` its other interface. */
  readonly kind: string
  readonly responses?: true
  readonly pricing: Pricing
  readonly bodies: Bodies
  /** Tokens and nano-dollars for each of them, in order: uncached prompt, read, written, written for an hour, answer. */
  readonly parts: readonly (readonly [tokens: bigint, nanos: bigint])[]
  /** In nano-dollars, what is due for the request itself included. */
  readonly cost: bigint
}

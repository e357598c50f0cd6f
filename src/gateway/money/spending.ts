import type { Pricing } from '../../config/model-facts.ts'
import type { Generation } from '../../generation/request.ts'
import { imagesIn } from './estimate.ts'
import type { Model } from '../models/model.ts'
import { costOf, type Nanos } from './price.ts'

/** What a call will take, as far as it can be known before. */
export type Spending = {
  /** An estimate. */
  readonly promptTokens: number
  /** The price of the prompt alone, and of the longest answer too. */
  readonly promptCost: Nanos
  readonly mostCost: Nanos
}

/** In tokens; where neither the request nor the model says how long an answer can get. */
const longAnswer = 32_768

/** The most that the answers to a prompt of about so many tokens can cost; undefined where the model has no price. */
export function spendingOf(generation: Generation, model: Model, promptTokens: number): Spending | undefined {
  const { pricing } = model
  if (!tellsCost(pricing)) return undefined
  const answer = generation.maxTokens ?? model.maxOutputTokens ?? longAnswer
  const completionTokens = answer * (generation.choices ?? 1)
  const images = imagesIn(generation)
  const plain = { promptTokens, completionTokens }
  // A provider may put the whole prompt into its cache, which costs more than to read it.
  const cached = { ...plain, cacheWriteTokens: promptTokens }
  return {
    promptTokens,
    promptCost: costOf({ promptTokens, completionTokens: 0 }, pricing, images),
    mostCost: larger(costOf(plain, pricing, images), costOf(cached, pricing, images)),
  }
}

/** A price that leaves out half of a call would make the other half free. */
function tellsCost(pricing: Pricing | undefined): pricing is Pricing {
  if (pricing === undefined) return false
  return pricing.request !== undefined || (pricing.input !== undefined && pricing.output !== undefined)
}

function larger(one: Nanos, other: Nanos): Nanos {
  return one > other ? one : other
}

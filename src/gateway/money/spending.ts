import type { Pricing } from '../../config/model-facts.ts'
import type { Generation } from '../../generation/request.ts'
import { estimatedPrompt, imagesIn } from './estimate.ts'
import type { Model } from '../models/model.ts'
import { costOf, type Nanos } from './price.ts'

/** What a call will take, as far as it can be known before. */
export type Spending = {
  /** An estimate. */
  readonly promptTokens: number
  /** The price of the prompt alone, and of the longest answer too; undefined for a model without a price. */
  readonly promptCost: Nanos | undefined
  readonly mostCost: Nanos | undefined
}

/** In tokens; where neither the request nor the model says how long an answer can get. */
const longAnswer = 32_768

/** An estimate of the prompt, and the most that the answers to it can cost. */
export function spendingOf(generation: Generation, model: Model): Spending {
  const promptTokens = estimatedPrompt(generation)
  const { pricing } = model
  if (!tellsCost(pricing)) return { promptTokens, promptCost: undefined, mostCost: undefined }
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

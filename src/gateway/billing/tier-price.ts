import type { Pricing } from '../../config/model-facts.ts'
import type { Generation } from '../../domain/generation/request.ts'
import type { Model } from '../models/model.ts'

/** The service tier that a provider served: null for one without a name here, undefined where it said nothing. */
export type ServedTier = 'default' | 'priority' | null | undefined

/** What the prices of a call depend on. */
export type PricedCall = { readonly model: Model; readonly generation: Generation }

/**
 * The prices of the tier that served. A provider that does not name one of its prices is taken to have served the one
 * that it was asked for. Undefined for a model without a price.
 */
export function pricingOf({ model, generation }: PricedCall, served?: ServedTier): Pricing | undefined {
  const priority = served === 'priority' || (served == null && generation.serviceTier === 'priority')
  return (priority ? priorityPricing(model) : undefined) ?? model.pricing
}

/** The prices of the model's priority tier; undefined where it has none that say what a call costs. */
export function priorityPricing({ fast }: Pick<Model, 'fast'>): Pricing | undefined {
  return fast?.strategy === 'service_tier' && hasCost(fast.pricing) ? fast.pricing : undefined
}

/** Whether a price says what a whole call costs: one that leaves out half of it would make that half free. */
export function hasCost(pricing: Pricing | undefined): pricing is Pricing {
  if (pricing === undefined) return false
  return pricing.request !== undefined || (pricing.input !== undefined && pricing.output !== undefined)
}

import { toParameters } from '../../domain/generation/parameters.ts'
import { unsupportedParameter } from '../../lib/errors/errors.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'

/** How a request in fast mode is served. */
export type FastModeTarget = {
  /**
   * The model that serves the request; a variant has the prices of the fast mode, a service tier is priced by
   * what was served.
   */
  readonly model: Model
  readonly serviceTier?: 'priority'
}

/** How `performance_mode: fast` is served for the model; throws the 400 if it has no fast mode. */
export function resolveFastMode(models: Models, model: Model): FastModeTarget {
  const { fast } = model
  const target = fast?.strategy === 'model_variant' ? models.find(fast.target_slug) : model
  if (fast === undefined || target === undefined || target.disabled !== undefined) {
    const message = `Unsupported parameter: 'performance_mode' 'fast' is not supported by ${model.slug}.`
    throw unsupportedParameter(message, 'performance_mode')
  }
  const supportedParameters = fast.supported_parameters
    ? toParameters(fast.supported_parameters)
    : target.supportedParameters
  if (fast.strategy === 'service_tier')
    return { model: { ...target, supportedParameters }, serviceTier: fast.service_tier }
  return { model: { ...target, pricing: fast.pricing, supportedParameters } }
}

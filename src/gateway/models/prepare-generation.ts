import type { ModelApi, Parameter } from '../../domain/generation/parameters.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { enforceCapabilities, resolveFastMode } from './enforce-capabilities.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'
import { requireApi, requireModel } from './require-model.ts'
import { requireBounds } from './request-bounds.ts'
import { selectRoutes } from './serving-routes.ts'

/** A request of an API in the vocabulary of the gateway. */
export type LoweredRequest = {
  readonly generation: Generation
  /** The API's name of a parameter, where it differs from the common one. */
  readonly names: Partial<Record<Parameter, string>>
  /** Parameters that are dropped with a warning where the model does not support them, whatever the settings say. */
  readonly droppable?: ReadonlySet<Parameter>
  readonly warnings: readonly string[]
}

type PrepareOptions = {
  /** The API of the request. */
  readonly api: ModelApi
  readonly models: Models
  /** Whether a parameter that the model does not support is rejected with 400, or dropped with a warning. */
  readonly unsupported: 'reject' | 'drop'
  /** The request selects `performance_mode: fast`. */
  readonly fast?: boolean
}

/** A generation that its model can serve. */
export type PreparedGeneration = {
  /** The slug of the requested model. */
  readonly slug: string
  /** The model that serves the request: in fast mode it may be a variant of the requested one. */
  readonly model: Model
  readonly generation: Generation
  readonly performanceMode: 'standard' | 'fast'
  readonly warnings: readonly string[]
}

/** Returns the enabled model of that name; throws the 404 if there is none, and the 400 or 404 if it does not serve the API. */
export function requestedModel(models: Models, name: string, api: ModelApi): Model {
  const model = requireModel(models, name)
  requireApi(model, api)
  return model
}

/**
 * Prepares the request of an API to a model: selects the fast mode and the routes that can serve the request, and
 * enforces the capabilities of the model, in this order. Throws the error of the first of these steps that fails.
 */
export function prepareGeneration(
  requested: Model,
  { generation, names, droppable, warnings }: LoweredRequest,
  { api, models, unsupported, fast = false }: PrepareOptions,
): PreparedGeneration {
  requireBounds(generation, api)
  const service = fast ? resolveFastMode(models, requested) : undefined
  const model = service?.model ?? requested
  const allWarnings = [...warnings]
  const warn = (warning: string) => void allWarnings.push(warning)
  const served = selectRoutes(model, generation, { unsupported, warn })
  const supported = enforceCapabilities(served.generation, served.model, {
    unsupported,
    names,
    droppable,
    warn,
  })
  return {
    slug: requested.slug,
    model: served.model,
    generation: service?.serviceTier ? { ...supported, serviceTier: service.serviceTier } : supported,
    performanceMode: service ? 'fast' : 'standard',
    warnings: allWarnings,
  }
}

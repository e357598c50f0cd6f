import type { Generation } from '../../domain/generation/request.ts'
import { fastServiceOf } from '../../gateway/models/fast-mode.ts'
import { enforceCapabilities } from '../../gateway/models/enforce-capabilities.ts'
import type { Model, Models } from '../../gateway/models/model.ts'
import { requireModel } from '../../gateway/models/require-model.ts'
import { lower } from './lower.ts'
import type { ChatRequest } from './schema.ts'

/** A request that a model can be asked. */
export type Prepared = {
  /** The slug that the caller meant. */
  readonly slug: string
  /** The model that serves it: in fast mode it may be another. */
  readonly model: Model
  readonly generation: Generation
  readonly performanceMode: 'standard' | 'fast'
  readonly warnings: readonly string[]
}

/** The model and the question to it, or the 400 or 404 that says why there is none. */
export function prepare(request: ChatRequest, models: Models, unsupported: 'reject' | 'drop'): Prepared {
  const named = requireModel(models, request.model)
  const { generation, names, warnings: given } = lower(request)
  const fast = request.performance_mode === 'fast' ? fastServiceOf(models, named) : undefined
  const model = fast?.model ?? named
  const warnings = [...given]
  const warn = (sentence: string) => void warnings.push(sentence)
  const fitted = enforceCapabilities(generation, model, { unsupported, names, warn })
  return {
    slug: named.slug,
    model,
    generation: fast?.serviceTier ? { ...fitted, serviceTier: fast.serviceTier } : fitted,
    performanceMode: fast ? 'fast' : 'standard',
    warnings,
  }
}

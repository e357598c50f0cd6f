import type { Generation } from '../../../domain/generation/request.ts'
import { enforceCapabilities } from '../../../gateway/models/enforce-capabilities.ts'
import type { Model, Models } from '../../../gateway/models/model.ts'
import { requireModel } from '../../../gateway/models/require-model.ts'
import type { Conversation } from '../conversation.ts'
import { lower } from './lower.ts'
import type { ResponseRequest } from './schema.ts'

/** A request that can be sent to a model. */
export type PreparedRequest = {
  readonly slug: string
  readonly model: Model
  readonly generation: Generation
  readonly warnings: readonly string[]
}

/** Finds the model and lowers the request for it. Throws 404 for an unknown model, 400 for an invalid request. */
export function prepareRequest(
  request: ResponseRequest,
  { context, input }: Conversation,
  models: Models,
  unsupported: 'reject' | 'drop',
): PreparedRequest {
  const model = requireModel(models, request.model)
  const lowered = lower(request, context, input)
  const { names } = lowered
  const warnings = [...lowered.warnings]
  const warn = (message: string) => void warnings.push(message)
  const generation = enforceCapabilities(lowered.generation, model, { unsupported, names, warn })
  return { slug: model.slug, model, generation, warnings }
}

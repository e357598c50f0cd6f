import type { Generation } from '../../../domain/generation/request.ts'
import { enforceCapabilities } from '../../../gateway/models/enforce-capabilities.ts'
import type { Model, Models } from '../../../gateway/models/model.ts'
import { requireModel } from '../../../gateway/models/require-model.ts'
import type { Conversation } from '../conversation.ts'
import { lower } from './lower.ts'
import type { ResponseRequest } from './schema.ts'

/** A request that a model can be asked. */
export type PreparedRequest = {
  readonly slug: string
  readonly model: Model
  readonly generation: Generation
  readonly warnings: readonly string[]
}

/** The model and the question to it, or the 400 or 404 that says why there is none. */
export function prepareRequest(
  request: ResponseRequest,
  { context, input }: Conversation,
  models: Models,
  unsupported: 'reject' | 'drop',
): PreparedRequest {
  const model = requireModel(models, request.model)
  const { generation, names, warnings: given } = lower(request, context, input)
  const warnings = [...given]
  const warn = (sentence: string) => void warnings.push(sentence)
  const fitted = enforceCapabilities(generation, model, { unsupported, names, warn })
  return { slug: model.slug, model, generation: fitted, warnings }
}

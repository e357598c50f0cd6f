import type { Models } from '../../../gateway/models/models.ts'
import {
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../../gateway/models/prepare-generation.ts'
import { type Conversation, lower } from './lower.ts'
import type { ResponseRequest } from './schema.ts'
import type { ToolOptions } from './tools.ts'

/** A response request that its model can serve. */
export type PreparedRequest = PreparedGeneration

/** Finds the model and lowers the request with its conversation; throws the 400 or 404 of a request that cannot be served. */
export function prepareRequest(
  request: ResponseRequest,
  conversation: Conversation,
  models: Models,
  options: ToolOptions,
): PreparedRequest {
  const { unsupported } = options
  const requested = requestedModel(models, request.model, 'responses')
  const lowered = lower(request, conversation, options)
  return prepareGeneration(requested, lowered, { api: 'responses', models, unsupported })
}

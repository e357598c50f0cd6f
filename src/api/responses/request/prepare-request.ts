import type { Models } from '../../../gateway/models/models.ts'
import { type PreparedGeneration, prepareGeneration } from '../../../gateway/models/prepare-generation.ts'
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
  return prepareGeneration(request, () => lower(request, conversation, options), {
    api: 'responses',
    models,
    unsupported,
  })
}

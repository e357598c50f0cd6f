import {
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import type { GenerationDependencies } from '../generate.ts'
import { selectBetas } from './betas.ts'
import { lower, type MessageHeaders } from './lower.ts'
import type { MessageRequest } from './schema.ts'

/** What requests are prepared by. */
export type PrepareDependencies = Pick<GenerationDependencies, 'models' | 'unsupported'>

/**
 * Prepares a request for the gateway; throws the 400 or 404 of a request that cannot be served. Every request has a
 * limit of tokens, which clients choose for the models they know: it is lowered to what this model generates.
 */
export function prepareMessage(
  request: MessageRequest,
  headers: MessageHeaders,
  { models: current, unsupported }: PrepareDependencies,
): PreparedGeneration {
  const [api, models] = ['messages', current()] as const
  const requested = requestedModel(models, request.model, api)
  const prepared = prepareGeneration(requested, lower(request, headers), { api, models, unsupported })
  const { source, warnings } = selectBetas(prepared.generation.source, prepared.model)
  return withLimit({
    ...prepared,
    generation: { ...prepared.generation, source },
    warnings: [...prepared.warnings, ...warnings],
  })
}

function withLimit(prepared: PreparedGeneration): PreparedGeneration {
  const { generation, model, warnings } = prepared
  const limit = model.maxOutputTokens
  if (limit === undefined || generation.maxTokens === undefined || generation.maxTokens <= limit)
    return prepared
  const warning = `${model.slug} generates at most ${limit} tokens; max_tokens was lowered to that.`
  return { ...prepared, generation: { ...generation, maxTokens: limit }, warnings: [...warnings, warning] }
}

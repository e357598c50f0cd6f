import { estimatePromptTokens } from '../../gateway/billing/estimate.ts'
import { prepareGeneration, requestedModel } from '../../gateway/models/prepare-generation.ts'
import { countUpstream } from '../../gateway/streams/count-tokens.ts'
import { lowerPrompt, type MessageHeaders } from './lower.ts'
import type { PrepareDependencies } from './prepare-message.ts'
import type { CountTokensRequest } from './schema.ts'

/** Counts the tokens of a prompt; throws the 400 or 404 of a request that cannot be served. */
export type TokenCounter = (
  request: CountTokensRequest,
  headers: MessageHeaders,
  signal: AbortSignal,
) => Promise<number>

/** Counts with the provider of the model where it offers that, and estimates otherwise. */
export function createTokenCounter({ models: current, unsupported }: PrepareDependencies): TokenCounter {
  return async (request, headers, signal) => {
    const [api, models] = ['messages', current()] as const
    const requested = requestedModel(models, request.model, api)
    const lowered = lowerPrompt(request, headers)
    const { model, generation } = prepareGeneration(requested, lowered, { api, models, unsupported })
    return (await countUpstream(model, generation, signal)) ?? estimatePromptTokens(generation)
  }
}

import type { Generation } from '../../domain/generation/request.ts'
import { callsOfModel, promptCount, totalChoices } from '../../domain/generation/inputs.ts'
import type { Usage } from '../../domain/generation/usage.ts'
import type { Model } from '../models/model.ts'
import { estimatePromptTokens } from './estimate.ts'
import { maxPromptTokens, type PromptModel } from './prompt-tokens.ts'

/** What metering needs to know of a model. */
export type MeteredModel = PromptModel & Pick<Model, 'maxOutputTokens' | 'reasoning'>

/** The request whose tokens are counted. */
export type MeteredRequest = {
  readonly generation: Generation
  readonly model: MeteredModel
  readonly stream: boolean
}

/** Assumed where the context window is unknown: a provider may add that much to any prompt. */
const minContextWindow = 8192
/** Where neither the request nor the model bounds the answer. */
const defaultMaxAnswerTokens = 1_000_000

/** The usage with each count clamped to the maximum that the request could use. */
export function clampUsage(usage: Usage, generation: Generation, model: MeteredModel): Usage {
  const maxCompletion = maxCompletionFor(generation, model)
  const maxPrompt = maxPromptFor(usage.promptTokens, generation, model)
  if (usage.promptTokens <= maxPrompt && usage.completionTokens <= maxCompletion) return usage
  const completionTokens = Math.min(usage.completionTokens, maxCompletion)
  return {
    ...usage,
    promptTokens: Math.min(usage.promptTokens, maxPrompt),
    completionTokens,
    reasoningTokens: usage.reasoningTokens && Math.min(usage.reasoningTokens, completionTokens),
  }
}

function maxCompletionFor(generation: Generation, model: MeteredModel): number {
  if (generation.operation === 'embedding') return 0
  const maxPerChoice =
    generation.maxTokens ?? model.maxOutputTokens ?? model.contextWindow ?? defaultMaxAnswerTokens
  return maxPerChoice * totalChoices(generation) * callsOfModel(generation)
}

/**
 * The maximum prompt tokens. A plausible count is its own limit, so that the prompt is measured only for an
 * implausible one.
 */
function maxPromptFor(reported: number, generation: Generation, model: MeteredModel): number {
  if (model.contextWindow !== undefined) return model.contextWindow * promptCount(generation)
  if (reported <= minContextWindow || reported <= estimatePromptTokens(generation)) return reported
  return Math.max(minContextWindow, maxPromptTokens(generation, model))
}

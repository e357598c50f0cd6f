import type { Generation } from '../../domain/generation/request.ts'
import type { Usage } from '../../domain/generation/usage.ts'
import type { Model } from '../models/model.ts'
import { estimatedPrompt } from './estimate.ts'
import { maxPromptTokens, type PromptModel } from './prompt-tokens.ts'

/** What is known of the model that is asked. */
export type MeteredModel = PromptModel & Pick<Model, 'maxOutputTokens' | 'reasoning'>

/** The request whose tokens are counted. */
export type MeteredRequest = {
  readonly generation: Generation
  readonly model: MeteredModel
  readonly stream: boolean
}

/** Where no context window is known: a provider may put so much before any prompt. */
const minContextWindow = 8192
/** Where neither the request nor the model says how long an answer can get. */
const defaultMaxAnswerTokens = 1_000_000

/** The counts as far as they are possible: where one is beyond what the request could take, the most that it could. */
export function clampUsage(usage: Usage, generation: Generation, model: MeteredModel): Usage {
  const maxPerChoice =
    generation.maxTokens ?? model.maxOutputTokens ?? model.contextWindow ?? defaultMaxAnswerTokens
  const maxCompletion = maxPerChoice * (generation.choices ?? 1)
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

/** A count that is possible is its own limit: only for one that may not be, the prompt is measured. */
function maxPromptFor(reported: number, generation: Generation, model: MeteredModel): number {
  if (model.contextWindow !== undefined) return model.contextWindow
  if (reported <= minContextWindow || reported <= estimatedPrompt(generation)) return reported
  return Math.max(minContextWindow, maxPromptTokens(generation, model))
}

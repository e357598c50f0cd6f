import type { Generation } from '../../domain/generation/request.ts'
import type { Usage } from '../../domain/generation/usage.ts'
import type { Model } from '../models/model.ts'
import { estimatedPrompt } from './estimate.ts'
import { maxPromptTokens, type PromptModel } from './prompt-tokens.ts'

/** What is known of the model that is asked. */
export type CountedModel = PromptModel & Pick<Model, 'maxOutputTokens' | 'reasoning'>

/** The request whose tokens are counted. */
export type MeteredRequest = {
  readonly generation: Generation
  readonly model: CountedModel
  readonly stream: boolean
}

/** Where no context window is known: a provider may put so much before any prompt. */
const smallestWindow = 8192
/** Where neither the request nor the model says how long an answer can get. */
const longestAnswer = 1_000_000

/** The counts as far as they are possible: where one is beyond what the request could take, the most that it could. */
export function believed(usage: Usage, generation: Generation, model: CountedModel): Usage {
  const answer = generation.maxTokens ?? model.maxOutputTokens ?? model.contextWindow ?? longestAnswer
  const mostCompletion = answer * (generation.choices ?? 1)
  const mostPrompt = promptLimit(usage.promptTokens, generation, model)
  if (usage.promptTokens <= mostPrompt && usage.completionTokens <= mostCompletion) return usage
  const completionTokens = Math.min(usage.completionTokens, mostCompletion)
  return {
    ...usage,
    promptTokens: Math.min(usage.promptTokens, mostPrompt),
    completionTokens,
    reasoningTokens: usage.reasoningTokens && Math.min(usage.reasoningTokens, completionTokens),
  }
}

/** A count that is possible is its own limit: only for one that may not be, the prompt is measured. */
function promptLimit(counted: number, generation: Generation, model: CountedModel): number {
  if (model.contextWindow !== undefined) return model.contextWindow
  if (counted <= smallestWindow || counted <= estimatedPrompt(generation)) return counted
  return Math.max(smallestWindow, maxPromptTokens(generation, model))
}

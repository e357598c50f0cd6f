import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, fieldsOf, isObject, numberOf } from '../../../lib/json/json.ts'

/** The counts of an answer or a chunk; undefined where it tells none, or only zeros. */
export function parseUsage(answer: Fields): Usage | undefined {
  const told = isObject(answer.usage) ? answer.usage : isObject(answer.x_groq) && answer.x_groq.usage
  if (!isObject(told)) return undefined
  const promptTokens = countOf(told.prompt_tokens) ?? 0
  const total = countOf(told.total_tokens) ?? 0
  // Some leave the reasoning out of the completion, but not out of the total.
  const completionTokens = Math.max(countOf(told.completion_tokens) ?? 0, total - promptTokens)
  if (promptTokens + completionTokens === 0) return undefined
  return {
    promptTokens,
    completionTokens,
    ...parsePrompt(told, promptTokens),
    ...parseCompletion(told, completionTokens),
  }
}

/** A part is never more than the whole, though providers have told so. */
function parsePrompt(told: Fields, promptTokens: number): Partial<Usage> {
  const details = fieldsOf(told.prompt_tokens_details)
  const cachedTokens =
    countOf(details.cached_tokens, promptTokens) ??
    countOf(told.prompt_cache_hit_tokens, promptTokens) ??
    countOf(told.cached_tokens, promptTokens)
  return {
    cachedTokens,
    cacheWriteTokens: countOf(details.cache_write_tokens, promptTokens - (cachedTokens ?? 0)),
    promptAudioTokens: countOf(details.audio_tokens, promptTokens),
  }
}

function parseCompletion(told: Fields, completionTokens: number): Partial<Usage> {
  const details = fieldsOf(told.completion_tokens_details)
  return {
    reasoningTokens: countOf(details.reasoning_tokens, completionTokens),
    completionAudioTokens: countOf(details.audio_tokens, completionTokens),
  }
}

function countOf(value: unknown, most: number = Number.MAX_SAFE_INTEGER): number | undefined {
  const count = numberOf(value)
  return count === undefined ? undefined : Math.min(Math.max(0, Math.trunc(count)), most)
}

/** The service tier of the interface for a provider's word; null for the words that it does not know. */
export function parseTier(word: string): 'default' | 'priority' | null {
  return word === 'default' || word === 'priority' ? word : null
}

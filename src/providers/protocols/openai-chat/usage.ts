import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, fieldsOf, isObject, numberOf } from '../../../lib/json/json.ts'

/** The usage of a response or a chunk; undefined where it has none, or only zeros. */
export function parseUsage(response: Fields): Usage | undefined {
  const counts = isObject(response.usage)
    ? response.usage
    : isObject(response.x_groq) && response.x_groq.usage
  if (!isObject(counts)) return undefined
  const promptTokens = countOf(counts.prompt_tokens) ?? 0
  const total = countOf(counts.total_tokens) ?? 0
  // Some providers count reasoning in the total, but not in the completion.
  const completionTokens = Math.max(countOf(counts.completion_tokens) ?? 0, total - promptTokens)
  if (promptTokens + completionTokens === 0) return undefined
  const prompt = fieldsOf(counts.prompt_tokens_details)
  const completion = fieldsOf(counts.completion_tokens_details)
  const cachedTokens = parseCached(counts, prompt, promptTokens)
  // Each part is limited to the total: providers have reported more.
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens: countOf(prompt.cache_write_tokens, promptTokens - (cachedTokens ?? 0)),
    promptAudioTokens: countOf(prompt.audio_tokens, promptTokens),
    reasoningTokens: countOf(completion.reasoning_tokens, completionTokens),
    completionAudioTokens: countOf(completion.audio_tokens, completionTokens),
  }
}

function parseCached(counts: Fields, details: Fields, promptTokens: number): number | undefined {
  return (
    countOf(details.cached_tokens, promptTokens) ??
    countOf(counts.prompt_cache_hit_tokens, promptTokens) ??
    countOf(counts.cached_tokens, promptTokens)
  )
}

function countOf(value: unknown, max: number = Number.MAX_SAFE_INTEGER): number | undefined {
  const count = numberOf(value)
  return count === undefined ? undefined : Math.min(Math.max(0, Math.trunc(count)), max)
}

/** The service tier of our API for a provider's tier; null for one that our API does not know. */
export function parseTier(tier: string): 'default' | 'priority' | null {
  return tier === 'default' || tier === 'priority' ? tier : null
}

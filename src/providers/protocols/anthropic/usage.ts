import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, fieldsOf, isObject, numberOf } from '../../../lib/json/json.ts'

/** The counts with later ones laid over them: each of those counts from the beginning. */
export function overlaid(told: Fields, later: unknown): Fields {
  if (!isObject(later)) return told
  const known = Object.entries(later).filter(([, value]) => value !== null && value !== undefined)
  return { ...told, ...Object.fromEntries(known) }
}

/** The counts of an answer; undefined where nothing was counted. What a cache has to do with comes on top. */
export function parseUsage(told: Fields): Usage | undefined {
  const cachedTokens = countOf(told.cache_read_input_tokens)
  const cacheWriteTokens = countOf(told.cache_creation_input_tokens)
  const longWrites = countOf(fieldsOf(told.cache_creation).ephemeral_1h_input_tokens)
  const promptTokens = (countOf(told.input_tokens) ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
  const completionTokens = countOf(told.output_tokens) ?? 0
  if (promptTokens + completionTokens === 0) return undefined
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    longCacheWriteTokens: limited(longWrites, cacheWriteTokens ?? 0),
    reasoningTokens: limited(countOf(fieldsOf(told.output_tokens_details).thinking_tokens), completionTokens),
  }
}

/** The service tier that the counts name, in the words of the interface. */
export function parseTier(told: Fields): 'default' | 'priority' | null | undefined {
  const { service_tier: word } = told
  if (typeof word !== 'string') return undefined
  if (word === 'standard') return 'default'
  return word === 'priority' ? word : null
}

function countOf(value: unknown): number | undefined {
  const count = numberOf(value)
  return count === undefined ? undefined : Math.max(0, Math.trunc(count))
}

function limited(count: number | undefined, most: number): number | undefined {
  return count === undefined ? undefined : Math.min(count, most)
}

import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf } from '../../../lib/json/json.ts'

/** The counts, overridden by later ones: each later count is a total from the beginning. */
export function mergeUsage(counts: Fields, later: unknown): Fields {
  if (!isObject(later)) return counts
  const present = Object.entries(later).filter(([, value]) => value !== null && value !== undefined)
  return { ...counts, ...Object.fromEntries(present) }
}

/**
 * The usage of a response; undefined where all counts are zero. Anthropic counts cached tokens apart from input tokens,
 * and compactions of the context apart from the message.
 */
export function parseUsage(counts: Fields): Usage | undefined {
  const all = [parseCounts(counts), ...compactionsOf(counts).map(parseCounts)]
  const usage = all.reduce(addCounts)
  return usage.promptTokens + usage.completionTokens === 0 ? undefined : usage
}

/** The counts of the compactions of the context, which the other counts do not include. */
export function compactionsOf(counts: Fields): readonly Fields[] {
  return listOf(counts.iterations)
    .map(fieldsOf)
    .filter(({ type }) => type === 'compaction')
}

function parseCounts(counts: Fields): Usage {
  const cachedTokens = countOf(counts.cache_read_input_tokens)
  const cacheWriteTokens = countOf(counts.cache_creation_input_tokens)
  const { ephemeral_1h_input_tokens: long, ephemeral_5m_input_tokens: short } = fieldsOf(
    counts.cache_creation,
  )
  const longWrites = countOf(long) ?? (numberOf(short) === undefined ? undefined : 0)
  const completionTokens = countOf(counts.output_tokens) ?? 0
  return {
    promptTokens: (countOf(counts.input_tokens) ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0),
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    longCacheWriteTokens: atMost(longWrites, cacheWriteTokens ?? 0),
    reasoningTokens: atMost(
      countOf(fieldsOf(counts.output_tokens_details).thinking_tokens),
      completionTokens,
    ),
  }
}

function addCounts(a: Usage, b: Usage): Usage {
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    cachedTokens: sum(a.cachedTokens, b.cachedTokens),
    cacheWriteTokens: sum(a.cacheWriteTokens, b.cacheWriteTokens),
    longCacheWriteTokens: sum(a.longCacheWriteTokens, b.longCacheWriteTokens),
    reasoningTokens: sum(a.reasoningTokens, b.reasoningTokens),
  }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}

/** The service tier of our API for the tier in the counts; null for one that our API does not know. */
export function parseTier(counts: Fields): 'default' | 'priority' | null | undefined {
  const { service_tier: tier } = counts
  if (typeof tier !== 'string') return undefined
  if (tier === 'standard') return 'default'
  return tier === 'priority' ? tier : null
}

function countOf(value: unknown): number | undefined {
  const count = numberOf(value)
  return count === undefined ? undefined : Math.max(0, Math.trunc(count))
}

function atMost(count: number | undefined, max: number): number | undefined {
  return count === undefined ? undefined : Math.min(count, max)
}

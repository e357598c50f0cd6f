import { type Static, Type } from 'typebox'
import type { Usage } from '../domain/generation/events.ts'

const count = Type.Number()

export type RenderedUsage = Static<typeof RenderedUsage>
/** The token counts of a completion. */
export const RenderedUsage = Type.Object(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: Type.Optional(
      Type.Object({
        cached_tokens: Type.Optional(count),
        cache_write_tokens: Type.Optional(count),
        audio_tokens: Type.Optional(count),
      }),
    ),
    completion_tokens_details: Type.Optional(
      Type.Object({ reasoning_tokens: Type.Optional(count), audio_tokens: Type.Optional(count) }),
    ),
  },
  { title: 'Usage' },
)

/** The tokens of the input that the provider wrote to its cache; at most those that it did not read from there. */
export function cacheWritesOf({ promptTokens, cachedTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  return Math.min(cacheWriteTokens, Math.max(0, promptTokens - cachedTokens))
}

/**
 * Renders token counts, with those of `cacheWritesOf` if `cacheWrites` is true. Cached and reasoning tokens never exceed the
 * total that they are part of.
 */
export function renderUsage(usage: Usage, cacheWrites = false): RenderedUsage {
  const { promptTokens, completionTokens } = usage
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: Math.min(usage.cachedTokens ?? 0, promptTokens),
      cache_write_tokens: cacheWrites ? cacheWritesOf(usage) : undefined,
      audio_tokens: usage.promptAudioTokens,
    },
    completion_tokens_details: {
      reasoning_tokens: Math.min(usage.reasoningTokens ?? 0, completionTokens),
      audio_tokens: usage.completionAudioTokens,
    },
  }
}

import type { Usage } from '../../domain/generation/usage.ts'
import type { Usage as RenderedUsage } from './reply-schema.ts'

/** The token counts as the interface tells them. */
export function renderUsage(usage: Usage): RenderedUsage {
  const { promptTokens, completionTokens } = usage
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: Math.min(usage.cachedTokens ?? 0, promptTokens),
      audio_tokens: usage.promptAudioTokens,
    },
    completion_tokens_details: {
      reasoning_tokens: Math.min(usage.reasoningTokens ?? 0, completionTokens),
      audio_tokens: usage.completionAudioTokens,
    },
  }
}

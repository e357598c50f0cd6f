import type { RunUsage } from '../events/run-event.ts'
import type { ResponseState } from '../events/state.ts'
import type { ResponseUsage } from './reply-schema.ts'

/** The token counts as the interface tells them: null before the end, and where a failed run used nothing known. */
export function renderUsage({ status, usage }: ResponseState): ResponseUsage | null {
  if (usage !== null) return counts(usage)
  // Clients read the counts of every response that did not fail.
  return status === 'completed' || status === 'incomplete' ? counts(nothing) : null
}

const nothing: RunUsage = { promptTokens: 0, completionTokens: 0, estimated: false }

function counts({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: RunUsage): ResponseUsage {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: Math.min(cachedTokens ?? 0, promptTokens) },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: Math.min(reasoningTokens ?? 0, completionTokens) },
    total_tokens: promptTokens + completionTokens,
  }
}

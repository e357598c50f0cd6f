import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../lib/json/json.ts'

/** The usage so far; undefined where there are no counts, or only zeros. */
export function parseUsage(metadata: unknown): Usage | undefined {
  const counts = fieldsOf(metadata)
  const promptTokens = countOf(counts.promptTokenCount) + countOf(counts.toolUsePromptTokenCount)
  const thoughts = countOf(counts.thoughtsTokenCount)
  const completionTokens = countOf(counts.candidatesTokenCount) + thoughts
  if (promptTokens + completionTokens === 0) return undefined
  return {
    promptTokens,
    completionTokens,
    cachedTokens: atMost(promptTokens, countOf(counts.cachedContentTokenCount)),
    reasoningTokens: atMost(completionTokens, thoughts),
    promptAudioTokens: atMost(promptTokens, audioIn(counts.promptTokensDetails)),
    completionAudioTokens: atMost(completionTokens, audioIn(counts.candidatesTokensDetails)),
  }
}

function countOf(value: unknown): number {
  return Math.max(0, Math.trunc(numberOf(value) ?? 0))
}

/** Limits a part to the total; undefined for zero. */
function atMost(total: number, part: number): number | undefined {
  return part === 0 ? undefined : Math.min(total, part)
}

function audioIn(details: unknown): number {
  const audio = listOf(details).find((detail) => fieldsOf(detail).modality === 'AUDIO')
  return countOf(fieldsOf(audio).tokenCount)
}

/**
 * The service tier of our API for the tier in the usage; undefined where there is none, null for one that our API does
 * not know.
 */
export function parseTier(metadata: Fields): 'default' | 'priority' | null | undefined {
  const tier = textOf(metadata.serviceTier) ?? textOf(metadata.trafficType)
  if (tier === undefined) return undefined
  if (tier === 'standard' || tier === 'ON_DEMAND') return 'default'
  return tier === 'priority' || tier === 'ON_DEMAND_PRIORITY' ? 'priority' : null
}

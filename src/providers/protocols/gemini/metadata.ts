import type { ProviderError, ServedTier, Usage } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, listOf, textOf } from '../../../lib/json/json.ts'
import { parseError as parseCommonError } from '../error.ts'
import { countOf } from '../parsing.ts'

/** The usage so far; undefined where there are no counts, or only zeros. */
export function parseUsage(metadata: unknown): Usage | undefined {
  const counts = fieldsOf(metadata)
  const promptTokens =
    (countOf(counts.promptTokenCount) ?? 0) + (countOf(counts.toolUsePromptTokenCount) ?? 0)
  const thoughts = countOf(counts.thoughtsTokenCount) ?? 0
  const completionTokens = (countOf(counts.candidatesTokenCount) ?? 0) + thoughts
  if (promptTokens + completionTokens === 0) return undefined
  return {
    promptTokens,
    completionTokens,
    cachedTokens: countOf(counts.cachedContentTokenCount, promptTokens) || undefined,
    reasoningTokens: countOf(thoughts, completionTokens) || undefined,
    promptAudioTokens: audioIn(counts.promptTokensDetails, promptTokens),
    completionAudioTokens: audioIn(counts.candidatesTokensDetails, completionTokens),
  }
}

function audioIn(details: unknown, total: number): number | undefined {
  const audio = listOf(details).find((detail) => fieldsOf(detail).modality === 'AUDIO')
  return countOf(fieldsOf(audio).tokenCount, total) || undefined
}

/**
 * The service tier of our API for the tier in the usage; undefined where there is none, null for one that our API does
 * not know.
 */
export function parseTier(metadata: Fields): ServedTier | undefined {
  const tier = textOf(metadata.serviceTier) ?? textOf(metadata.trafficType)
  if (tier === undefined) return undefined
  if (tier === 'standard' || tier === 'ON_DEMAND') return 'default'
  return tier === 'priority' || tier === 'ON_DEMAND_PRIORITY' ? 'priority' : null
}

/** Parses an error body, whose details have the code. Without an event stream, Gemini wraps it in a list. */
export function parseError(body: unknown): ProviderError {
  const { error } = fieldsOf(Array.isArray(body) ? body[0] : body)
  const details = listOf(fieldsOf(error).details).map(fieldsOf)
  return { ...parseCommonError(body), code: details.map(({ reason }) => textOf(reason)).find(Boolean) }
}

import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../lib/json/json.ts'

/** The counts so far; undefined where none are told, or only zeros. */
export function parseUsage(metadata: unknown): Usage | undefined {
  const told = fieldsOf(metadata)
  const promptTokens = countOf(told.promptTokenCount) + countOf(told.toolUsePromptTokenCount)
  const thoughts = countOf(told.thoughtsTokenCount)
  const completionTokens = countOf(told.candidatesTokenCount) + thoughts
  if (promptTokens + completionTokens === 0) return undefined
  return {
    promptTokens,
    completionTokens,
    cachedTokens: atMost(promptTokens, countOf(told.cachedContentTokenCount)),
    reasoningTokens: atMost(completionTokens, thoughts),
    promptAudioTokens: atMost(promptTokens, audioIn(told.promptTokensDetails)),
    completionAudioTokens: atMost(completionTokens, audioIn(told.candidatesTokensDetails)),
  }
}

function countOf(value: unknown): number {
  return Math.max(0, Math.trunc(numberOf(value) ?? 0))
}

/** A part is never more than the whole; none is not told. */
function atMost(whole: number, part: number): number | undefined {
  return part === 0 ? undefined : Math.min(whole, part)
}

function audioIn(details: unknown): number {
  const audio = listOf(details).find((detail) => fieldsOf(detail).modality === 'AUDIO')
  return countOf(fieldsOf(audio).tokenCount)
}

/** The service tier in the usage of an answer; undefined where none is told, null for one without a name here. */
export function parseTier(metadata: Fields): 'default' | 'priority' | null | undefined {
  const word = textOf(metadata.serviceTier) ?? textOf(metadata.trafficType)
  if (word === undefined) return undefined
  if (word === 'standard' || word === 'ON_DEMAND') return 'default'
  return word === 'priority' || word === 'ON_DEMAND_PRIORITY' ? 'priority' : null
}

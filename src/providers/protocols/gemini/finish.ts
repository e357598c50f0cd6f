import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import type { FinishReason } from '../../../domain/generation/events.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'

/** The word under which a prompt that was not let through ends. */
export const blocked = 'PROHIBITED_CONTENT'

/** The finish reason for Gemini's word, which is the same for answers with and without tool calls. */
export function finishFor(word: string, calls: boolean): FinishReason {
  if (word === 'MAX_TOKENS') return 'length'
  if (filters.has(word) || word.startsWith('IMAGE_')) return 'content_filter'
  return calls ? 'tool_calls' : 'stop'
}

/** What is wrong with a candidate that ended without an answer: no HTTP error tells it. */
export function complaintIn(candidate: Fields): ProviderError | undefined {
  const word = textOf(candidate.finishReason)
  if (word === undefined || !breakages.has(word)) return undefined
  return { message: `the model ended its response with ${word}`, code: word, detected: true }
}

const filters = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'MODEL_ARMOR',
  // Told where a policy that has no word of its own ended the answer.
  'OTHER',
])

const breakages = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
])

import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import type { FinishReason } from '../../../domain/generation/events.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'

/** The finish reason of a prompt that was blocked. */
export const blockedPrompt = 'PROHIBITED_CONTENT'

/** Our finish reason for Gemini's, which does not distinguish responses with tool calls. */
export function finishFor(reason: string, hasToolCalls: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (filterReasons.has(reason) || reason.startsWith('IMAGE_')) return 'content_filter'
  return hasToolCalls ? 'tool_calls' : 'stop'
}

/** The error of a candidate that ended without content: Gemini reports it only by the finish reason. */
export function candidateError(candidate: Fields): ProviderError | undefined {
  const reason = textOf(candidate.finishReason)
  if (reason === undefined || !errorReasons.has(reason)) return undefined
  return { message: `the model ended its response with ${reason}`, code: reason, detected: true }
}

const filterReasons = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'MODEL_ARMOR',
  // For policies without a reason of their own.
  'OTHER',
])

const errorReasons = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
])

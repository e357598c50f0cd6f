import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import type { FinishReason } from '../../../domain/generation/events.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import { parseError, tellsError } from './error.ts'

/** The finish reason for a provider's word. An answer with tool calls that stopped of itself ends for them. */
export function finishFor(word: string, calls: boolean): FinishReason {
  const reason = words.get(word.toLowerCase()) ?? 'stop'
  if (reason === 'length' || reason === 'content_filter') return reason
  return calls ? 'tool_calls' : 'stop'
}

/** What is wrong with one choice, where the provider says inside it that it broke the answer off. */
export function complaintIn(entry: Fields): ProviderError | undefined {
  if (tellsError(entry)) return parseError(entry)
  const word = textOf(entry.finish_reason)
  if (word === undefined || !breakages.has(word.toLowerCase())) return undefined
  return { message: `it ended its response with ${word.toLowerCase()}`, detected: true }
}

const words = new Map<string, FinishReason>([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
])

const breakages = new Set(['error', 'abort', 'insufficient_system_resource', 'network_error'])

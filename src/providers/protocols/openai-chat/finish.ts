import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import type { FinishReason } from '../../../domain/generation/events.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import { parseError, hasError } from './error.ts'

/** Our finish reason for a provider's. A response with tool calls that ends normally has the reason `tool_calls`. */
export function finishFor(reason: string, hasToolCalls: boolean): FinishReason {
  const finishReason = finishReasons.get(reason.toLowerCase()) ?? 'stop'
  if (finishReason === 'length' || finishReason === 'content_filter') return finishReason
  return hasToolCalls ? 'tool_calls' : 'stop'
}

/** The error inside a choice, where the provider reports there that it aborted the response. */
export function choiceError(entry: Fields): ProviderError | undefined {
  if (hasError(entry)) return parseError(entry)
  const reason = textOf(entry.finish_reason)
  if (reason === undefined || !errorReasons.has(reason.toLowerCase())) return undefined
  return { message: `it ended its response with ${reason.toLowerCase()}`, detected: true }
}

const finishReasons = new Map<string, FinishReason>([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
])

const errorReasons = new Set(['error', 'abort', 'insufficient_system_resource', 'network_error'])

import { type ProviderError, endedEarly } from '../../../domain/generation/provider-error.ts'
import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, textOf } from '../../../lib/json/json.ts'
import { tellsError } from '../openai-chat/error.ts'
import { parseError } from './error.ts'

/** How an answer with this status ended: a finish, or a failure. */
export function endOf(response: Fields, status: string, calls: boolean): GenerationEvent {
  if (tellsError(response) || status === 'failed') return failure(parseError(response))
  if (status === 'completed') return { type: 'finish', choice: 0, reason: calls ? 'tool_calls' : 'stop' }
  if (status === 'incomplete') return cutOff(textOf(fieldsOf(response.incomplete_details).reason))
  return failure(endedEarly)
}

/** A failure with this complaint. */
export function failure(complaint: ProviderError): GenerationEvent {
  return { type: 'failure', complaint }
}

function cutOff(reason: string = 'max_output_tokens'): GenerationEvent {
  if (/token|length/.test(reason)) return { type: 'finish', choice: 0, reason: 'length' }
  if (/filter|safety/.test(reason)) return { type: 'finish', choice: 0, reason: 'content_filter' }
  return failure(endedEarly)
}

import type { Citation } from '../../../domain/generation/events.ts'
import { joinWarnings } from '../../../domain/generation/warnings.ts'
import { estimatedUsageWarning } from '../../../gateway/billing/meter.ts'
import { renderCitation } from '../../../http/citation.ts'
import { cacheWritesOf } from '../../../http/usage.ts'
import { streamMessage } from '../../../lib/errors/stream-message.ts'
import type { RunUsage } from '../events/run-event.ts'
import {
  type CallItem,
  type Failure,
  isCallItem,
  isFinished,
  itemsOf,
  type OutputItem as ItemState,
  type ResponseState,
} from '../events/state.ts'
import type { ErrorEvent } from './event-schema.ts'
import type {
  OutputItem,
  OutputText,
  ResponseError,
  ResponseObject,
  ResponseUsage,
  SummaryText,
} from './reply-schema.ts'

/** The choices that the Responses API leaves to the server. */
export type RenderOptions = {
  /** Renders the effective values of parameters that the request does not set, as Open Responses requires. */
  readonly openResponses: boolean
  /** Renders how many tokens of the input were written to a cache. */
  readonly cacheWriteTokens: boolean
}

/** Renders a response as its wire object. */
export function renderResponse(state: ResponseState, options: RenderOptions): ResponseObject {
  const { head, failure, incompleteReason } = state
  const warnings = warningsOf(state)
  return {
    id: head.id,
    object: 'response',
    created_at: head.created_at,
    status: state.status,
    background: head.background,
    completed_at: state.completedAt,
    error: failure === null ? null : renderFailure(failure),
    incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
    model: head.model,
    ...(state.provider !== null && { provider: state.provider }),
    output: renderOutput(state),
    ...renderSettings(state, options),
    usage: renderUsage(state, options),
    metadata: head.metadata,
    ...(warnings.length > 0 && { warnings }),
  }
}

/** Renders the closed items; an open one is not among them. */
export function renderClosedItems({ output }: ResponseState): OutputItem[] {
  return itemsOf(output).map(renderItem)
}

function renderOutput(state: ResponseState): OutputItem[] {
  const items = renderClosedItems(state)
  if (state.open !== null) items.push(renderItem(state.open))
  return items
}

/** Renders the parameters of the request, and the fixed values that clients expect beside them. */
function renderSettings(state: ResponseState, { openResponses }: RenderOptions) {
  const { head } = state
  return {
    instructions: head.instructions,
    max_output_tokens: head.max_output_tokens,
    parallel_tool_calls: head.parallel_tool_calls,
    previous_response_id: head.previous_response_id,
    reasoning: head.reasoning,
    store: head.store,
    temperature: head.temperature ?? (openResponses ? 1 : null),
    top_p: head.top_p ?? (openResponses ? 1 : null),
    truncation: head.truncation ?? (openResponses ? 'disabled' : null),
    text: head.text,
    tool_choice: head.tool_choice,
    tools: head.tools === undefined ? [] : [...head.tools],
    service_tier: serviceTierOf(state),
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    safety_identifier: null,
    prompt_cache_key: null,
    user: head.user,
  }
}

/** The requested service tier, or the one that served the request once the response has ended. */
function serviceTierOf(state: ResponseState): string {
  return isFinished(state) ? (state.tier ?? 'default') : (state.head.service_tier ?? 'auto')
}

function warningsOf({ head, warnings, usage }: ResponseState): string[] {
  const joined = joinWarnings(head.warnings, warnings)
  return usage?.estimated ? [...joined, estimatedUsageWarning] : [...joined]
}

/** Renders an item; a message or reasoning without text has no part yet. */
export function renderItem(item: ItemState): OutputItem {
  if (isCallItem(item)) return renderCall(item)
  const { type, id, text, status, encrypted, citations } = item
  if (type === 'message') {
    // The events of a message in progress do not have them either.
    const known = status === 'in_progress' ? [] : citations
    const content = text === '' ? [] : [renderOutputText(text, known)]
    return { id, type, status, role: 'assistant', content }
  }
  const summary = text === '' ? [] : [renderSummaryText(text)]
  return { id, type, summary, ...(encrypted !== undefined && { encrypted_content: encrypted }) }
}

function renderCall({ type, id, status, callId: call_id, name, namespace, text }: CallItem): OutputItem {
  const call = { id, status, call_id, name, ...(namespace !== undefined && { namespace }) }
  return type === 'function_call' ? { type, ...call, arguments: text } : { type, ...call, input: text }
}

/** Renders text as the part of a message. */
export function renderOutputText(text: string, citations: readonly Citation[] = []): OutputText {
  const annotations = citations.map((citation) => ({
    type: 'url_citation' as const,
    ...renderCitation(citation),
  }))
  return { type: 'output_text', text, annotations, logprobs: [] }
}

/** Renders text as the part of a reasoning item. */
export function renderSummaryText(text: string): SummaryText {
  return { type: 'summary_text', text }
}

/** Null before the end, and for a failed response whose usage is unknown. */
function renderUsage({ status, usage }: ResponseState, options: RenderOptions): ResponseUsage | null {
  if (usage !== null) return renderTokenCounts(usage, options)
  // Clients read the token counts of every response that did not fail.
  return status === 'completed' || status === 'incomplete' ? renderTokenCounts(noUsage, options) : null
}

const noUsage: RunUsage = { promptTokens: 0, completionTokens: 0, estimated: false }

function renderTokenCounts(usage: RunUsage, options: RenderOptions): ResponseUsage {
  const { promptTokens, completionTokens, cachedTokens = 0, reasoningTokens } = usage
  return {
    input_tokens: promptTokens,
    input_tokens_details: {
      cached_tokens: Math.min(cachedTokens, promptTokens),
      ...(options.cacheWriteTokens && { cache_write_tokens: cacheWritesOf(usage) }),
    },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: Math.min(reasoningTokens ?? 0, completionTokens) },
    total_tokens: promptTokens + completionTokens,
  }
}

/** Renders a failure as a stream event: nested, the form that clients throw on, and flat, as the schema has it. */
export function renderErrorEvent(failure: Failure, sequence_number: number): ErrorEvent {
  const { code, param } = failure
  const message = streamMessage(failure.message, code)
  const error = { type: errorTypeOf(code, param), code, message, param }
  return { type: 'error', sequence_number, code, message, param, error }
}

/** Renders a failure as the `error` of a response, with the code by which clients decide what to do. */
function renderFailure({ code, message }: Failure): ResponseError {
  return { code: customaryCodes.get(code) ?? code, message }
}

/** The customary codes of the Responses API for codes of the gateway; other codes are rendered as they are. */
export const customaryCodes: ReadonlyMap<string, string> = new Map([
  ['upstream_rate_limited', 'rate_limit_exceeded'],
  ['provider_busy', 'rate_limit_exceeded'],
  ['upstream_unavailable', 'server_error'],
  ['upstream_timeout', 'server_error'],
  ['internal_error', 'server_error'],
  ['interrupted', 'server_error'],
  ['service_unavailable', 'server_error'],
  ['response_not_stored', 'server_error'],
  ['upstream_rejected', 'invalid_prompt'],
  ['content_filter', 'invalid_prompt'],
])

/** Codes of client errors that name no parameter. */
const clientErrorCodes: ReadonlySet<string> = new Set([
  'upstream_rejected',
  'context_length_exceeded',
  'content_filter',
  'model_not_found',
  'unsupported_parameter',
  'no_organization',
  'invalid_api_key',
])

const quotaErrorCodes: ReadonlySet<string> = new Set(['insufficient_balance', 'billing_not_configured'])

function errorTypeOf(code: string, param: string | null): string {
  if (quotaErrorCodes.has(code)) return 'insufficient_quota'
  return param !== null || clientErrorCodes.has(code) ? 'invalid_request_error' : 'server_error'
}

import { estimatedUsageWarning } from '../../../gateway/billing/meter.ts'
import { joinWarnings } from '../../../domain/generation/warnings.ts'
import { renderFailure } from './render-failure.ts'
import { renderItem } from './render-items.ts'
import { renderUsage } from './render-usage.ts'
import type { ResponseObject } from './reply-schema.ts'
import { type ResponseState, finished } from '../events/state.ts'

/** How this gateway words what the interface leaves open. */
export type RenderOptions = {
  /** Shows the effective values of parameters that were not given, which is what Open Responses asks for. */
  readonly openResponses: boolean
}

/** A response as its readers see it at this moment. */
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
    output: outputOf(state),
    ...settingsOf(state, options),
    usage: renderUsage(state),
    metadata: head.metadata,
    ...(warnings.length > 0 && { warnings }),
  }
}

function outputOf({ output, open }: ResponseState): ResponseObject['output'] {
  return open === null ? [...output] : [...output, renderItem(open, 'in_progress')]
}

/** What was asked for, and what else clients expect to be told of it. */
function settingsOf(state: ResponseState, { openResponses }: RenderOptions) {
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
    tools: [],
    service_tier: tierOf(state),
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    safety_identifier: null,
    prompt_cache_key: null,
    user: head.user,
  }
}

/** The tier that was asked for, until it is known which one served. */
function tierOf(state: ResponseState): string {
  return finished(state) ? (state.tier ?? 'default') : (state.head.service_tier ?? 'auto')
}

function warningsOf({ head, warnings, usage }: ResponseState): string[] {
  const joined = joinWarnings(head.warnings, warnings)
  return usage?.estimated ? [...joined, estimatedUsageWarning] : [...joined]
}

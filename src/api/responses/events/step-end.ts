import type { FinishReason } from '../../../domain/generation/events.ts'
import { renderErrorEvent } from '../render/render-failure.ts'
import type { RunEnd } from './run-event.ts'
import type { ResponseState } from './state.ts'
import { closed } from './step-items.ts'
import { type Step, follow, snapshot, emit } from './step-tell.ts'

type End<Type extends RunEnd['type']> = Extract<RunEnd, { readonly type: Type }>

/** The model has said all that it will say. */
export function ended(state: ResponseState, { at, usage }: End<'ended'>): Step {
  const reason = cutShortBy(state.finish)
  if (reason !== null) return incomplete(state, reason, usage)
  return follow(closed(state, 'completed'), (next) =>
    snapshot({ ...next, status: 'completed', completedAt: at, usage }, 'response.completed'),
  )
}

/** Whatever was said stays; the error is told twice, because clients listen for either. */
export function failed(state: ResponseState, { code, message, param, usage }: End<'failed'>): Step {
  const failure = { code, message, param }
  const told = follow(closed(state, 'incomplete'), (next) => emit(next, [renderErrorEvent(failure)]))
  return follow(told, (next) => snapshot({ ...next, status: 'failed', failure, usage }, 'response.failed'))
}

/** Whatever was said stays. */
export function cancelled(state: ResponseState, { usage }: End<'cancelled'>): Step {
  return incomplete(state, 'cancelled', usage)
}

function incomplete(
  state: ResponseState,
  incompleteReason: ResponseState['incompleteReason'],
  usage: ResponseState['usage'],
): Step {
  return follow(closed(state, 'incomplete'), (next) =>
    snapshot({ ...next, status: 'incomplete', incompleteReason, usage }, 'response.incomplete'),
  )
}

function cutShortBy(finish: FinishReason | null): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content_filter' ? finish : null
}

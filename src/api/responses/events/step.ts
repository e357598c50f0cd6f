import type { RunEvent } from './run-event.ts'
import { type ResponseState, finished } from './state.ts'
import { cancelled, ended, failed } from './step-end.ts'
import { grown } from './step-items.ts'
import { type Step, follow, snapshot } from './step-tell.ts'

/**
 * What becomes of a response when this happens to it, and what readers of its stream are told. The same events
 * always give the same; whatever comes after the end changes nothing.
 */
export function step(state: ResponseState, event: RunEvent): Step {
  if (finished(state)) return [state, []]
  switch (event.type) {
    case 'created':
      return created(state)
    case 'started':
      return snapshot({ ...state, status: 'in_progress' }, 'response.in_progress')
    case 'answering':
      return silently({
        ...state,
        provider: event.provider,
        warnings: [...state.warnings, ...event.warnings],
      })
    case 'reasoning':
      return grown(state, 'reasoning', event.text)
    case 'text':
      return grown(state, 'message', event.text)
    case 'finish':
      return silently({ ...state, finish: event.reason })
    case 'tier':
      return silently({ ...state, tier: event.tier })
    case 'ended':
      return ended(state, event)
    case 'failed':
      return failed(state, event)
    case 'cancelled':
      return cancelled(state, event)
  }
}

function created(state: ResponseState): Step {
  const told = snapshot(state, 'response.created')
  return state.status === 'queued' ? follow(told, (next) => snapshot(next, 'response.queued')) : told
}

function silently(state: ResponseState): Step {
  return [state, []]
}

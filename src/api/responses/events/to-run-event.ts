import type { GenerationEvent } from '../../../domain/generation/events.ts'
import type { RunEvent } from './run-event.ts'

/** What an event of the model means for the response; undefined where it tells nothing of it. */
export function toRunEvent(event: GenerationEvent): RunEvent | undefined {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.choice === 0 ? { type: event.type, text: event.text } : undefined
    case 'finish':
      return event.choice === 0 ? { type: 'finish', reason: event.reason } : undefined
    case 'tier':
      return { type: 'tier', tier: event.tier }
    default:
      // No tools are offered, and usage is told at the end.
      return undefined
  }
}

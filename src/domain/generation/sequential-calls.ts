import type { GenerationEvent } from './events.ts'

/**
 * Puts the tool calls of choice 0 in sequence: models may make several calls in turns, but in some APIs a call ends
 * before anything else begins. Whatever comes while a call is open and does not belong to it is held until it ends.
 */
export class SequentialCalls {
  /** The index of the open call. */
  #open: number | undefined
  #held: GenerationEvent[] = []

  /** The events that can be passed on now, in order; the finish releases all that is held. */
  next(event: GenerationEvent): readonly GenerationEvent[] {
    if ('choice' in event && event.choice !== 0) return []
    if (event.type === 'finish') return [...this.release(), event]
    if (this.#open === undefined && event.type !== 'tool-call-begin') return [event]
    const released: GenerationEvent[] = []
    let pending: readonly GenerationEvent[] = [event]
    while (pending.length > 0) pending = this.#pass(pending, released)
    return released
  }

  /** Some calls were cut off: releases what is held, the text first, then call by call. */
  release(): readonly GenerationEvent[] {
    return this.#endCall().toSorted((a, b) => callIndex(a) - callIndex(b))
  }

  /** Passes events on until a call ends; returns those that come next: what was held behind the call, then the rest. */
  #pass(events: readonly GenerationEvent[], released: GenerationEvent[]): readonly GenerationEvent[] {
    for (const [index, event] of events.entries()) {
      if (this.#isHeld(event)) {
        this.#held.push(event)
        continue
      }
      released.push(event)
      if (event.type === 'tool-call-begin') this.#open = event.index
      if (event.type === 'tool-call') return [...this.#endCall(), ...events.slice(index + 1)]
    }
    return []
  }

  #endCall(): GenerationEvent[] {
    const held = this.#held
    this.#open = undefined
    this.#held = []
    return held
  }

  #isHeld(event: GenerationEvent): boolean {
    if (this.#open === undefined) return false
    switch (event.type) {
      case 'tool-call-delta':
      case 'tool-call':
        return event.index !== this.#open
      case 'usage':
      case 'tier':
      case 'ending':
      case 'logprobs':
      case 'failure':
        return false
      default:
        return true
    }
  }
}

/** Below 0 for an event that belongs to no call. */
function callIndex(event: GenerationEvent): number {
  return 'choice' in event && 'index' in event ? event.index : -1
}

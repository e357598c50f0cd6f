import type { GenerationEvent } from './events.ts'

/**
 * Puts the tool calls of choice 0 in sequence: models may make several calls in turns, but in some APIs a call ends
 * before anything else begins. Whatever comes while a call is open and does not belong to it is held until it ends.
 */
export class SequentialCalls {
  /** The index of the open call. */
  #open: number | undefined
  /** The events that are held, in the order in which they began, and the calls by their index. */
  #held: HeldEvents[] = []
  #calls = new Map<number, HeldEvents>()

  /** The events that can be passed on now, in order; the finish releases all that is held. */
  next(event: GenerationEvent): readonly GenerationEvent[] {
    if ('choice' in event && event.choice !== 0) return []
    if (event.type === 'finish') return [...this.release(), event]
    if (this.#isHeld(event)) {
      this.#hold(event)
      return []
    }
    if (event.type === 'tool-call-begin') this.#open = event.index
    if (event.type !== 'tool-call' || this.#open === undefined) return [event]
    this.#open = undefined
    return [event, ...this.#releaseNext()]
  }

  /** Some calls were cut off: releases what is held, the text first, then call by call. */
  release(): readonly GenerationEvent[] {
    const events = this.#held.flatMap((held) => held.events)
    this.#open = undefined
    this.#held = []
    this.#calls = new Map()
    return events.toSorted((a, b) => callIndex(a) - callIndex(b))
  }

  /** Releases what is held up to the first call that has not ended, which is then open. */
  #releaseNext(): readonly GenerationEvent[] {
    const incomplete = this.#held.findIndex(({ ended }) => !ended)
    const released = this.#held.splice(0, incomplete < 0 ? this.#held.length : incomplete + 1)
    for (const { index } of released) if (index !== undefined) this.#calls.delete(index)
    if (incomplete >= 0) this.#open = released.at(-1)?.index
    return released.flatMap(({ events }) => events)
  }

  #hold(event: GenerationEvent): void {
    const index = callIndex(event)
    const call = event.type === 'tool-call-begin' ? undefined : this.#calls.get(index)
    if (call === undefined) return this.#holdNext(event, index)
    call.events.push(event)
    if (event.type === 'tool-call') call.ended = true
  }

  #holdNext(event: GenerationEvent, index: number): void {
    const begins = event.type === 'tool-call-begin'
    const held = { events: [event], ended: !begins, index: begins ? index : undefined }
    this.#held.push(held)
    if (begins) this.#calls.set(index, held)
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

/** A call with all of its events so far, or a single event of no call, which has no index. */
type HeldEvents = { readonly events: GenerationEvent[]; readonly index: number | undefined; ended: boolean }

/** Below 0 for an event that belongs to no call. */
function callIndex(event: GenerationEvent): number {
  return 'choice' in event && 'index' in event ? event.index : -1
}

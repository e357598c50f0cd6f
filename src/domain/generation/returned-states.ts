import { isObject } from '../../lib/json/json.ts'
import type { ValueBudget } from '../../lib/validation/value-budget.ts'
import type { PastToolCall } from './request.ts'
import { joinStates, openSealedState, type SealedState } from './sealed-state.ts'

/**
 * The states that the caller sends back, sealed in blocks or items of the conversation. Their provider receives each with
 * the call that it belongs to, or else with the next call; a state that no call follows is not sent back.
 */
export class ReturnedStates<Carrier> {
  /** All of them, by what carries them: each is opened once. */
  readonly #ofCarriers = new Map<Carrier, SealedState>()
  /** By the id of their call, until it gets its state: a repeated call does not get it again. */
  readonly #ofCalls = new Map<string, SealedState>()
  /** Those since the last call. */
  #pending: SealedState[] = []

  /** Opens the states in these texts, which share the budget; throws its 400 if they have too many values. */
  constructor(seals: Iterable<readonly [carrier: Carrier, text: string]>, budget: ValueBudget) {
    for (const [carrier, text] of seals) {
      const sealed = openSealedState(text, budget)
      if (sealed === undefined) continue
      this.#ofCarriers.set(carrier, sealed)
      if (sealed.callId !== undefined) this.#ofCalls.set(sealed.callId, sealed)
    }
  }

  /** Adds the state of a carrier; false where the gateway did not seal one in it. */
  add(carrier: Carrier): boolean {
    const sealed = this.#ofCarriers.get(carrier)
    if (sealed === undefined) return false
    if (sealed.callId === undefined) this.#pending.push(sealed)
    return true
  }

  clear(): void {
    this.#pending = []
  }

  /** The call with its state, if there is one. */
  attachTo(call: PastToolCall): PastToolCall {
    const own = this.#ofCalls.get(call.id)
    const merged = mergeStates(own === undefined ? this.#pending : [own])
    this.clear()
    this.#ofCalls.delete(call.id)
    return { ...call, ...merged }
  }
}

/** The state of a call after several blocks of reasoning: their lists are joined. Other providers' states are ignored. */
function mergeStates(states: readonly SealedState[]): Pick<PastToolCall, 'state' | 'provider'> | undefined {
  const provider = states.at(-1)?.provider
  const own = states.filter((sealed) => sealed.provider === provider && isObject(sealed.state))
  if (provider === undefined || own.length === 0) return undefined
  return { provider, state: joinStates(own.map(({ state }) => state)) }
}

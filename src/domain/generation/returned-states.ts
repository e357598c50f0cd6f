import { isObject } from '../../lib/json/json.ts'
import type { ValueBudget } from '../../lib/validation/value-budget.ts'
import type { PastToolCall } from './request.ts'
import { joinStates, openSealedState, type SealedState } from './sealed-state.ts'

/** A state with the text in which it was sealed. */
type Returned = { readonly text: string; readonly sealed: SealedState }

/**
 * The states that the caller sends back, sealed in blocks or items of the conversation. Their provider receives each with
 * the call that it belongs to, or else with the next call; a state that no call follows is not sent back.
 */
export class ReturnedStates<Carrier> {
  /** All of them, by what carries them: each is opened once. */
  readonly #ofCarriers = new Map<Carrier, Returned>()
  /** By the id of their call, until it gets its state: a repeated call does not get it again. */
  readonly #ofCalls = new Map<string, SealedState>()
  /** Those since the last call, each once: a client may send back what the conversation has already. */
  #pending = new Map<string, SealedState>()

  /** Opens the states in these texts, which share the budget; throws its 400 if they have too many values. */
  constructor(seals: Iterable<readonly [carrier: Carrier, text: string]>, budget: ValueBudget) {
    for (const [carrier, text] of seals) {
      const sealed = openSealedState(text, budget)
      if (sealed === undefined) continue
      this.#ofCarriers.set(carrier, { text, sealed })
      if (sealed.callId !== undefined) this.#ofCalls.set(sealed.callId, sealed)
    }
  }

  /** Adds the state of a carrier; false where the gateway did not seal one in it. */
  add(carrier: Carrier): boolean {
    const returned = this.#ofCarriers.get(carrier)
    if (returned === undefined) return false
    const { text, sealed } = returned
    if (sealed.callId === undefined) this.#pending.set(text, sealed)
    return true
  }

  clear(): void {
    this.#pending = new Map()
  }

  /** The call with its state, if there is one. */
  attachTo(call: PastToolCall): PastToolCall {
    const own = this.#ofCalls.get(call.id)
    const merged = mergeStates(own === undefined ? [...this.#pending.values()] : [own])
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

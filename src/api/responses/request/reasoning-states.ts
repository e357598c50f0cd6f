import type { PastToolCall } from '../../../domain/generation/request.ts'
import { openSealedState } from '../../../domain/generation/sealed-state.ts'
import { type Fields, fieldsOf, type Json, textOf } from '../../../lib/json/json.ts'

/**
 * The states of the reasoning items since the last call, which the caller sends back as `encrypted_content`: their
 * provider receives them with the next call. Reasoning that no call follows is not sent back.
 */
export class ReasoningStates {
  #provider: string | undefined
  #states: Fields[] = []

  /** Adds a reasoning item; content that the gateway did not make is ignored. */
  add({ encrypted_content }: Fields): void {
    const sealed = openSealedState(textOf(encrypted_content) ?? '')
    if (sealed === undefined) return
    if (sealed.provider !== this.#provider) this.clear()
    this.#provider = sealed.provider
    this.#states.push(fieldsOf(sealed.state))
  }

  clear(): void {
    this.#provider = undefined
    this.#states = []
  }

  /** The call with the states so far, which only one call receives. */
  attachTo(call: PastToolCall): PastToolCall {
    const provider = this.#provider
    if (provider === undefined) return call
    const state = joinStates(this.#states)
    this.clear()
    return { ...call, state, provider }
  }
}

/** The lists of all states joined by name; of other values, the last one. */
function joinStates(states: readonly Fields[]): Json {
  const joined = new Map<string, unknown>()
  for (const state of states)
    for (const [name, value] of Object.entries(state)) {
      const before = joined.get(name)
      joined.set(name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value)
    }
  // The values were parsed from JSON.
  return Object.fromEntries(joined) as Json
}

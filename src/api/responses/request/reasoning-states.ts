import type { PastToolCall } from '../../../domain/generation/request.ts'
import { joinStates, openSealedState, type SealedState } from '../../../domain/generation/sealed-state.ts'
import { textOf } from '../../../lib/json/json.ts'
import { ValueBudget } from '../../../lib/validation/value-budget.ts'
import type { Item } from './items.ts'

/**
 * The states that the caller sends back in the `encrypted_content` of reasoning items. Their provider receives each with
 * the call that it belongs to, or else with the next call; reasoning that no call follows is not sent back.
 */
export class ReasoningStates {
  /** By the id of their call, until it gets its state: a repeated call does not get it again. */
  readonly #ofCalls: Map<string, SealedState>
  /** All of them, by their item: each is opened once. */
  readonly #ofItems: ReadonlyMap<Item, SealedState>
  /** Those since the last call, all of one provider. */
  #pending: SealedState[] = []

  constructor(items: readonly Item[]) {
    this.#ofItems = statesOf(items)
    this.#ofCalls = new Map(
      this.#ofItems.values().flatMap((state) => (state.callId === undefined ? [] : [[state.callId, state]])),
    )
  }

  /** Adds a reasoning item; content that the gateway did not make is ignored. */
  add(item: Item): void {
    const state = this.#ofItems.get(item)
    if (state === undefined || state.callId !== undefined) return
    if (state.provider !== this.#pending[0]?.provider) this.clear()
    this.#pending.push(state)
  }

  clear(): void {
    this.#pending = []
  }

  /** The call with its state, if there is one. */
  attachTo(call: PastToolCall): PastToolCall {
    const own = this.#ofCalls.get(call.id)
    const states = own === undefined ? this.#pending : [own]
    const [first] = states
    this.clear()
    this.#ofCalls.delete(call.id)
    return first === undefined
      ? call
      : { ...call, state: joinStates(states.map(({ state }) => state)), provider: first.provider }
  }
}

function statesOf(items: readonly Item[]): Map<Item, SealedState> {
  const budget = new ValueBudget('input')
  const states = new Map<Item, SealedState>()
  for (const item of items) {
    if (item.type !== 'reasoning') continue
    const state = openSealedState(textOf(item.encrypted_content) ?? '', budget)
    if (state) states.set(item, state)
  }
  return states
}

import type { PastToolCall } from '../../domain/generation/request.ts'
import { joinStates, openSealedState, type SealedState } from '../../domain/generation/sealed-state.ts'
import { isObject } from '../../lib/json/json.ts'
import { ValueBudget } from '../../lib/validation/value-budget.ts'
import { type BlockOf, type ContentBlock, isBlock } from './content-schema.ts'
import type { InputMessage } from './schema.ts'

type ThinkingBlock = BlockOf<'thinking' | 'redacted_thinking'>

/** Whether the block is thinking, which may be redacted. */
export function isThinking(block: ContentBlock): block is ThinkingBlock {
  return isBlock(block, 'thinking') || isBlock(block, 'redacted_thinking')
}

/**
 * The states that the caller sends back in the signatures of thinking. Their provider receives each with the call that it
 * belongs to, or else with the next call of its turn; thinking that no call follows is not sent back.
 */
export class ThinkingStates {
  /** All of them, by their block: each is opened once. */
  readonly #ofBlocks: ReadonlyMap<ContentBlock, SealedState>
  /** By the id of their call, until it gets its state: a repeated call does not get it again. */
  readonly #ofCalls: Map<string, SealedState>
  /** Those since the last call. */
  #pending: SealedState[] = []

  constructor(messages: readonly InputMessage[]) {
    this.#ofBlocks = statesOf(messages)
    this.#ofCalls = new Map(
      this.#ofBlocks
        .values()
        .flatMap((sealed) => (sealed.callId === undefined ? [] : [[sealed.callId, sealed]])),
    )
  }

  /** Adds the state of a block; false where the gateway did not seal it. */
  add(block: ThinkingBlock): boolean {
    const sealed = this.#ofBlocks.get(block)
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

/** The states of all turns share one budget. */
function statesOf(messages: readonly InputMessage[]): ReadonlyMap<ContentBlock, SealedState> {
  const budget = new ValueBudget('messages')
  const states = new Map<ContentBlock, SealedState>()
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue
    for (const block of content) {
      const sealed = isThinking(block) ? openSealedState(sealOf(block), budget) : undefined
      if (sealed) states.set(block, sealed)
    }
  }
  return states
}

function sealOf(block: ThinkingBlock): string {
  return block.type === 'redacted_thinking' ? block.data : (block.signature ?? '')
}

/** The state of a call after several blocks of reasoning: their lists are joined. Other providers' states are ignored. */
function mergeStates(states: readonly SealedState[]): Pick<PastToolCall, 'state' | 'provider'> | undefined {
  const provider = states.at(-1)?.provider
  const own = states.filter((sealed) => sealed.provider === provider && isObject(sealed.state))
  if (provider === undefined || own.length === 0) return undefined
  return { provider, state: joinStates(own.map(({ state }) => state)) }
}

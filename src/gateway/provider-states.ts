import type { GenerationEvent, ToolCallEvent } from '../domain/generation/events.ts'
import type { Generation, Message, PastToolCall } from '../domain/generation/request.ts'
import type { Json } from '../lib/json/json.ts'
import type { ProviderState } from '../storage/ports/provider-state.ts'

/**
 * What a provider wants back with its tool calls on the next turn (signatures, reasoning) and what the caller's
 * format has no place for: kept by organization and tool-call id.
 */
export type ProviderStates = {
  /** The generation, with the states of its earlier tool calls that this provider gave. */
  restore(organization: string, provider: string, generation: Generation): Promise<Generation> | Generation
  /** Stores the states in the batch; undefined where there is none. */
  keep(organization: string, provider: string, batch: readonly GenerationEvent[]): Promise<void> | undefined
}

/** Milliseconds: a conversation that rests for longer goes on without its signatures. */
const lifetime = 7 * 24 * 60 * 60 * 1000

export function createProviderStates(store: ProviderState, now: () => number = Date.now): ProviderStates {
  return {
    restore(organization, provider, generation) {
      if (!generation.messages.some(madeCalls)) return generation
      const ids = callIdsIn(generation)
      return store.find(organization, provider, ids).then((states) => withStates(generation, states))
    },
    keep(organization, provider, batch) {
      // Almost no batch has one: a list of none is not made for each.
      if (!batch.some(carriesState)) return undefined
      return keepAll(batch.filter(carriesState), organization, provider)
    },
  }

  async function keepAll(
    calls: readonly StatefulCall[],
    organization: string,
    provider: string,
  ): Promise<void> {
    const expiresAt = now() + lifetime
    await Promise.all(
      calls.map(({ call, state }) =>
        store.keep({ organization, callId: call.id, provider, value: state, expiresAt }),
      ),
    )
  }
}

type StatefulCall = ToolCallEvent & { readonly state: Json }

function carriesState(event: GenerationEvent): event is StatefulCall {
  return event.type === 'tool-call' && event.state !== undefined
}

function madeCalls(message: Message): boolean {
  return message.role === 'assistant' && message.toolCalls.length > 0
}

function callIdsIn(generation: Generation): string[] {
  return generation.messages.flatMap((message) => toolCallsOf(message).map((call) => call.id))
}

function toolCallsOf(message: Message): readonly PastToolCall[] {
  return message.role === 'assistant' ? message.toolCalls : []
}

function withStates(generation: Generation, states: ReadonlyMap<string, Json>): Generation {
  if (states.size === 0) return generation
  const messages = generation.messages.map((message) => {
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return message
    const toolCalls = message.toolCalls.map((call) => ({ ...call, state: states.get(call.id) }))
    return { ...message, toolCalls }
  })
  return { ...generation, messages }
}

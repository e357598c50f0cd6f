import type { GenerationEvent, ToolCallEvent } from '../domain/generation/events.ts'
import type { Generation, Message, PastToolCall } from '../domain/generation/request.ts'
import type { Json } from '../lib/json/json.ts'
import type { ProviderState } from '../storage/ports/provider-state.ts'

/**
 * What a provider wants back with its tool calls on the next turn (signatures, reasoning), for which the
 * caller's format has no field. Stored by organization and tool-call id.
 */
export type ProviderStates = {
  /** Returns the generation with the states that this provider gave to its earlier tool calls. */
  restore(organization: string, provider: string, generation: Generation): Promise<Generation> | Generation
  /** Stores the states in the batch; undefined if there is none. */
  save(organization: string, provider: string, batch: readonly GenerationEvent[]): Promise<void> | undefined
}

/** How long a state is stored: a conversation that pauses for longer goes on without its signatures. */
const lifetimeMs = 7 * 24 * 60 * 60 * 1000

export function createProviderStates(store: ProviderState, now: () => number = Date.now): ProviderStates {
  return {
    restore(organization, provider, generation) {
      if (!generation.messages.some(hasToolCalls)) return generation
      const ids = callIdsOf(generation)
      return store
        .find(organization, provider, ids)
        .then((states) => withStates(generation, provider, states))
    },
    save(organization, provider, batch) {
      // Almost no batch has a state: do not allocate a list for each.
      if (!batch.some(hasState)) return undefined
      return saveAll(batch.filter(hasState), organization, provider)
    },
  }

  async function saveAll(
    calls: readonly StatefulCall[],
    organization: string,
    provider: string,
  ): Promise<void> {
    const expiresAt = now() + lifetimeMs
    await Promise.all(
      calls.map(({ call, state }) =>
        store.store({ organization, callId: call.id, provider, value: state, expiresAt }),
      ),
    )
  }
}

type StatefulCall = ToolCallEvent & { readonly state: Json }

function hasState(event: GenerationEvent): event is StatefulCall {
  return event.type === 'tool-call' && event.state !== undefined
}

function hasToolCalls(message: Message): boolean {
  return message.role === 'assistant' && message.toolCalls.length > 0
}

function callIdsOf(generation: Generation): string[] {
  return generation.messages.flatMap((message) => toolCallsOf(message).map((call) => call.id))
}

function toolCallsOf(message: Message): readonly PastToolCall[] {
  return message.role === 'assistant' ? message.toolCalls : []
}

function withStates(generation: Generation, provider: string, states: ReadonlyMap<string, Json>): Generation {
  if (states.size === 0 && !generation.messages.some(hasSentState)) return generation
  // A caller can repeat a call: only the last one with an id gets its state, or a request could grow without a bound.
  const lastCalls = new Map(generation.messages.flatMap(toolCallsOf).map((call) => [call.id, call]))
  const stored = (call: PastToolCall) => (lastCalls.get(call.id) === call ? states.get(call.id) : undefined)
  const messages = generation.messages.map((message) => {
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return message
    const toolCalls = message.toolCalls.map((call) => ({
      ...call,
      state: stored(call) ?? (call.provider === provider ? call.state : undefined),
    }))
    return { ...message, toolCalls }
  })
  return { ...generation, messages }
}

/** Whether the caller sent the state of a call. */
function hasSentState(message: Message): boolean {
  return toolCallsOf(message).some(({ state }) => state !== undefined)
}

import type { GenerationEvent, ToolCallEvent } from '../domain/generation/events.ts'
import type { ContainerReference, Generation, Message, PastToolCall } from '../domain/generation/request.ts'
import type { Json } from '../lib/json/json.ts'
import type { AcquireMemory } from '../lib/memory-budget.ts'
import type { FoundState, ProviderState } from '../storage/ports/provider-state.ts'
import type { ModelRoute } from './models/model.ts'
import { createContainers, type StatefulRequest } from './provider-containers.ts'

/**
 * The state that a provider wants back with its tool calls on the next turn (signatures, reasoning), for which the
 * caller's format has no field; and which provider has a container. Stored by organization and id.
 */
export type ProviderStates = {
  /**
   * Adds the states that the providers of the request's model gave to its earlier tool calls, and the provider of its
   * container; undefined if it has neither. Rejects with the 400 of a container that the organization was not given.
   */
  restore(request: StatefulRequest, acquireMemory: AcquireMemory): Promise<Restored> | undefined
  /** Stores the states in the batch; undefined if there is none. */
  save(organization: string, provider: string, batch: readonly GenerationEvent[]): Promise<void> | undefined
}

/** A generation whose tool calls have their states, which may be of several providers. */
export type Restored = { readonly generation: Generation; readonly warnings: readonly string[] }

/** How long a state is stored: a conversation that pauses for longer goes on without its signatures. */
const lifetimeMs = 7 * 24 * 60 * 60 * 1000

/**
 * The states of one request: a million tokens of four bytes, as much as the largest context windows hold. Of a longer
 * conversation the states of the last calls remain: most providers ignore those of earlier turns.
 */
const maxRestoredBytes = 4 * 1024 * 1024

const truncatedWarning =
  'The reasoning of the earlier tool calls is longer than 4 MiB in total; only that of the last calls was sent.'

export function createProviderStates(store: ProviderState): ProviderStates {
  const calls = createCallStates(store)
  const containers = createContainers(store)
  return {
    restore(request, acquireMemory) {
      const { container } = request.generation.source ?? {}
      return container
        ? restoreWith(container, request, acquireMemory)
        : calls.restore(request, acquireMemory)
    },
    save(organization, provider, batch) {
      const container = containers.save(organization, provider, batch)
      return calls.save(organization, provider, batch)?.then(() => container) ?? container
    },
  }

  async function restoreWith(
    container: ContainerReference,
    request: StatefulRequest,
    acquireMemory: AcquireMemory,
  ): Promise<Restored> {
    const generation = await containers.locate(request, container, acquireMemory)
    return (await calls.restore({ ...request, generation }, acquireMemory)) ?? { generation, warnings: [] }
  }
}

function createCallStates(store: ProviderState): ProviderStates {
  return {
    restore({ metadata, model, generation }, acquireMemory) {
      if (!generation.messages.some(hasToolCalls)) return undefined
      return restoreCalls(metadata.organization, model, generation, acquireMemory)
    },
    save(organization, provider, batch) {
      // Almost no batch has a state: do not allocate a list for each.
      if (!batch.some(hasState)) return undefined
      return saveAll(batch.filter(hasState), organization, provider)
    },
  }

  async function restoreCalls(
    organization: string,
    model: StatefulRequest['model'],
    generation: Generation,
    acquireMemory: AcquireMemory,
  ): Promise<Restored> {
    const providers = providersWithState(model, generation)
    if (providers.length === 0)
      return { generation: withStates(generation, noCalls, noStates, []), warnings: [] }
    const lastCalls = lastCallsOf(generation)
    const callIds = [...lastCalls.keys()]
    const query = { organization, providers, callIds, maxBytes: maxRestoredBytes, acquireMemory }
    const { states, truncated } = await store.find(query)
    const warnings = truncated ? [truncatedWarning] : []
    return { generation: withStates(generation, lastCalls, states, providers), warnings }
  }

  async function saveAll(
    calls: readonly StatefulCall[],
    organization: string,
    provider: string,
  ): Promise<void> {
    const expiresAt = Date.now() + lifetimeMs
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

/** The providers that receive states: not those that receive the request as the caller wrote it. */
function providersWithState({ routes }: StatefulRequest['model'], { source }: Generation): string[] {
  const isRendered = ({ provider: { kind } }: ModelRoute) =>
    'protocol' in kind && kind.protocol.name !== source?.protocol
  return [...new Set(routes.filter(isRendered).map(({ provider }) => provider.name))]
}

/**
 * By id, in their order. A caller can repeat a call: only the last one with an id gets its state, or a request could
 * grow without a bound.
 */
function lastCallsOf({ messages }: Generation): ReadonlyMap<string, PastToolCall> {
  const calls = new Map<string, PastToolCall>()
  for (const message of messages)
    for (const call of toolCallsOf(message)) {
      calls.delete(call.id)
      calls.set(call.id, call)
    }
  return calls
}

function toolCallsOf(message: Message): readonly PastToolCall[] {
  return message.role === 'assistant' ? message.toolCalls : none
}

const none: readonly PastToolCall[] = []
const noCalls: ReadonlyMap<string, PastToolCall> = new Map()
const noStates: ReadonlyMap<string, FoundState> = new Map()

/** The calls with their stored states, or else with those that the caller sent, of these providers. */
function withStates(
  generation: Generation,
  lastCalls: ReadonlyMap<string, PastToolCall>,
  states: ReadonlyMap<string, FoundState>,
  providers: readonly string[],
): Generation {
  return mapCalls(generation, (call) => {
    const stored = lastCalls.get(call.id) === call ? states.get(call.id) : undefined
    if (stored) return { ...call, state: stored.value, provider: stored.provider }
    return providers.includes(call.provider ?? '') ? call : withoutState(call)
  })
}

/** The generation with the states of this provider alone. */
export function withStatesOf(provider: string, generation: Generation): Generation {
  return mapCalls(generation, (call) => (call.provider === provider ? call : withoutState(call)))
}

function withoutState(call: PastToolCall): PastToolCall {
  return call.state === undefined ? call : { ...call, state: undefined, provider: undefined }
}

/** The same generation where no call changes. */
function mapCalls(generation: Generation, change: (call: PastToolCall) => PastToolCall): Generation {
  let changed = false
  const messages = generation.messages.map((message) => {
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return message
    const toolCalls = message.toolCalls.map(change)
    if (toolCalls.every((call, index) => call === message.toolCalls[index])) return message
    changed = true
    return { ...message, toolCalls }
  })
  return changed ? { ...generation, messages } : generation
}

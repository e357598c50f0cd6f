import type { GenerationEvent, ToolCallBegin, ToolCallEvent } from '../../../domain/generation/events.ts'
import { type SealedState, sealState } from '../../../domain/generation/sealed-state.ts'
import { fieldsOf, parseJson } from '../../../lib/json/json.ts'
import type { ResponseHead } from '../request/head.ts'
import { type CallName, callNamesOf, inputProperty } from '../request/tools.ts'
import { type CallBegin, type RunEvent, toRunEvent } from './run-event.ts'

/** Converts the events of a model with tools. */
export type ToolEvents = {
  /** The events of the response for one of the model; `provider` is the one that serves it. */
  convert(event: GenerationEvent, provider: string | null): readonly RunEvent[]
}

/** Converts the events of this response; undefined where `toRunEvent` converts all of them. */
export function createToolEvents(head: ResponseHead): ToolEvents | undefined {
  const { tools = [], encrypted_reasoning: encrypted } = head
  return tools.length === 0 && !encrypted
    ? undefined
    : new SequentialCalls(callNamesOf(tools), encrypted === true)
}

/**
 * Models may make several calls at once, in turns; the calls of a response follow one another. Everything that comes
 * while a call is open and does not belong to it is held until the call has ended.
 */
class SequentialCalls implements ToolEvents {
  readonly #names: ReadonlyMap<string, CallName>
  readonly #encrypted: boolean
  /** The open call. */
  #open: ToolCallBegin | undefined
  #held: GenerationEvent[] = []
  /** The arguments of the last call are not JSON: a token limit may have cut them off, which the finish will say. */
  #mayBeCutOff = false
  /** The state of the reasoning before the next call was passed on. */
  #hasSentState = false

  constructor(names: ReadonlyMap<string, CallName>, encrypted: boolean) {
    this.#names = names
    this.#encrypted = encrypted
  }

  convert(event: GenerationEvent, provider: string | null): readonly RunEvent[] {
    if ('choice' in event && event.choice !== 0) return []
    const converted: RunEvent[] = []
    let pending: readonly GenerationEvent[] = [event]
    while (pending.length > 0) {
      const [next, ...later] = pending
      pending = later
      if (next === undefined) break
      if (next.type === 'finish') converted.push(...this.#releaseAll(provider))
      if (this.#isHeld(next)) {
        this.#held.push(next)
        continue
      }
      converted.push(...this.#toEvents(next, provider))
      if (next.type === 'tool-call') pending = [...this.#endCall(), ...later]
    }
    return converted
  }

  /** Returns what was held behind the call. */
  #endCall(): readonly GenerationEvent[] {
    const held = this.#held
    this.#open = undefined
    this.#held = []
    return held
  }

  /** Some calls were cut off: what was held is released call by call, the text first. */
  #releaseAll(provider: string | null): readonly RunEvent[] {
    const held = this.#endCall().toSorted((a, b) => indexOf(a) - indexOf(b))
    return held.flatMap((event) => this.#toEvents(event, provider))
  }

  #toEvents(event: GenerationEvent, provider: string | null): readonly RunEvent[] {
    switch (event.type) {
      case 'tool-call-begin':
        this.#open = event
        this.#mayBeCutOff = false
        return [this.#toCall(event)]
      case 'tool-call-delta':
        return this.#isCustom(this.#open) ? [] : [{ type: 'call-delta', text: event.arguments }]
      case 'tool-call':
        return [...this.#endOfCall(event), ...this.#stateOf(event, provider)]
      case 'finish': {
        const isComplete = this.#mayBeCutOff && event.reason !== 'length'
        return [
          ...(isComplete ? [{ type: 'call-end' } as const] : []),
          { type: 'finish', reason: event.reason },
        ]
      }
      case 'reasoning-end':
        return this.#reasoningEnd({ provider, state: event.state })
      default: {
        const converted = toRunEvent(event)
        return converted ? [converted] : []
      }
    }
  }

  #endOfCall(event: ToolCallEvent): readonly RunEvent[] {
    if (this.#isCustom(this.#open)) return endOfCustomCall(event)
    this.#mayBeCutOff = parseJson(event.call.arguments) === undefined
    return this.#mayBeCutOff ? [] : [{ type: 'call-end' }]
  }

  /** The state of a call that no state of its reasoning came before becomes reasoning of its own behind the call. */
  #stateOf({ call, state }: ToolCallEvent, provider: string | null): readonly RunEvent[] {
    const events =
      state === undefined || this.#hasSentState
        ? []
        : this.#reasoningEnd({ provider, state, callId: call.id })
    this.#hasSentState = false
    return events
  }

  #reasoningEnd({
    provider,
    ...state
  }: Omit<SealedState, 'provider'> & { readonly provider: string | null }): readonly RunEvent[] {
    if (!this.#encrypted) return []
    this.#hasSentState = true
    return [{ type: 'reasoning-end', encrypted: sealState({ provider: provider ?? '', ...state }) }]
  }

  /** A model may call a tool that does not exist, which the caller has to handle. */
  #toCall({ id, name: toolName }: ToolCallBegin): CallBegin {
    const { name, namespace, custom } = this.#names.get(toolName) ?? { name: toolName, custom: false }
    const kind = custom ? 'custom_tool_call' : 'function_call'
    return { type: 'call', kind, callId: id, name, ...(namespace !== undefined && { namespace }) }
  }

  #isHeld(event: GenerationEvent): boolean {
    if (this.#open === undefined) return false
    switch (event.type) {
      case 'tool-call-delta':
      case 'tool-call':
        return event.index !== this.#open.index
      case 'tool-call-begin':
      case 'text':
      case 'reasoning':
      case 'reasoning-end':
        return true
      default:
        return false
    }
  }

  #isCustom(call: ToolCallBegin | undefined): boolean {
    return call !== undefined && this.#names.get(call.name)?.custom === true
  }
}

function indexOf(event: GenerationEvent): number {
  return 'choice' in event && 'index' in event ? event.index : -1
}

/** The input of a custom tool is a property of the arguments; it is one delta, because it comes as JSON. */
function endOfCustomCall({ call }: ToolCallEvent): readonly RunEvent[] {
  const { [inputProperty]: input } = fieldsOf(parseJson(call.arguments))
  const text = typeof input === 'string' ? input : call.arguments
  return text === '' ? [{ type: 'call-end' }] : [{ type: 'call-delta', text }, { type: 'call-end' }]
}

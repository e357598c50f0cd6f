import type { GenerationEvent, ToolCallBegin, ToolCallEvent } from '../../../domain/generation/events.ts'
import { SequentialCalls } from '../../../domain/generation/sequential-calls.ts'
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
  const { tools = [], additional_tools: additional = [], encrypted_reasoning: encrypted } = head
  const all = [...tools, ...additional]
  return all.length === 0 && !encrypted
    ? undefined
    : new ToolEventConverter(callNamesOf(all), encrypted === true)
}

class ToolEventConverter implements ToolEvents {
  readonly #sequence = new SequentialCalls()
  readonly #names: ReadonlyMap<string, CallName>
  readonly #encrypted: boolean
  /** The call that began last. */
  #call: ToolCallBegin | undefined
  /** The arguments of the last call are not JSON: a token limit may have cut them off, which the finish will say. */
  #mayBeCutOff = false
  /** The state of the reasoning before the next call was passed on. */
  #hasSentState = false

  constructor(names: ReadonlyMap<string, CallName>, encrypted: boolean) {
    this.#names = names
    this.#encrypted = encrypted
  }

  convert(event: GenerationEvent, provider: string | null): readonly RunEvent[] {
    return this.#sequence.next(event).flatMap((next) => this.#toEvents(next, provider))
  }

  #toEvents(event: GenerationEvent, provider: string | null): readonly RunEvent[] {
    switch (event.type) {
      case 'tool-call-begin':
        this.#call = event
        this.#mayBeCutOff = false
        return [this.#toCall(event)]
      case 'tool-call-delta':
        return this.#isCustom(this.#call) ? [] : [{ type: 'call-delta', text: event.arguments }]
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
    if (this.#isCustom(this.#call)) return endOfCustomCall(event)
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

  #isCustom(call: ToolCallBegin | undefined): boolean {
    return call !== undefined && this.#names.get(call.name)?.custom === true
  }
}

/** The input of a custom tool is a property of the arguments; it is one delta, because it comes as JSON. */
function endOfCustomCall({ call }: ToolCallEvent): readonly RunEvent[] {
  const { [inputProperty]: input } = fieldsOf(parseJson(call.arguments))
  const text = typeof input === 'string' ? input : call.arguments
  return text === '' ? [{ type: 'call-end' }] : [{ type: 'call-delta', text }, { type: 'call-end' }]
}

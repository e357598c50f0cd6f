import type { Json } from '../../lib/json/json.ts'
import type { ProviderError } from './provider-error.ts'
import type { Usage } from './usage.ts'

/**
 * An event of a model's output, independent of the protocol. `choice` counts the choices of one request from
 * 0. A protocol emits `finish` once for each choice and as its last event, when the provider's response is
 * complete.
 */
export type GenerationEvent =
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  | ToolCallBegin
  | ToolCallDelta
  | ToolCallEvent
  | { readonly type: 'finish'; readonly choice: number; readonly reason: FinishReason }
  /** The model has ended the choice: only its `finish` follows, once the response is complete. */
  | { readonly type: 'ending'; readonly choice: number }
  /** The token counts so far; a later event replaces them. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'tier'; readonly tier: 'default' | 'priority' | null }
  /** The provider has failed; no event follows. */
  | { readonly type: 'failure'; readonly error: ProviderError }

/**
 * The model begins a tool call. `index` counts the tool calls of the choice from 0; id and name are final.
 * Calls may interleave. A call without a `tool-call` event at the end of the answer was cut off.
 */
export type ToolCallBegin = {
  readonly type: 'tool-call-begin'
  readonly choice: number
  readonly index: number
  readonly id: string
  readonly name: string
}

/**
 * A fragment of the arguments of the call that began under this index; joined, the fragments are the complete
 * arguments.
 */
export type ToolCallDelta = {
  readonly type: 'tool-call-delta'
  readonly choice: number
  readonly index: number
  readonly arguments: string
}

/**
 * The end of a tool call, with the complete call: a reader that needs only complete calls can ignore the
 * other two events. `state` is what the provider wants back with the call on the next turn.
 */
export type ToolCallEvent = {
  readonly type: 'tool-call'
  readonly choice: number
  readonly index: number
  readonly call: ToolCall
  readonly state?: Json
}

/** `arguments` is JSON text as the model wrote it, `{}` where it wrote nothing. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string }

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

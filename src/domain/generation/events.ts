import type { Json } from '../../lib/json/json.ts'
import type { ProviderError } from './provider-error.ts'
import type { Usage } from './usage.ts'

/**
 * What a model says, in no wire's format. `choice` counts the answers of one request from 0. A wire tells
 * `finish` once for each choice and last of it, when the provider's whole answer is there.
 */
export type GenerationEvent =
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  | ToolCallBegin
  | ToolCallDelta
  | ToolCallEvent
  | { readonly type: 'finish'; readonly choice: number; readonly reason: FinishReason }
  /** The model has ended the choice: nothing of it comes any more but, once the whole answer is there, its `finish`. */
  | { readonly type: 'ending'; readonly choice: number }
  /** The counts so far; a later one replaces it. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'tier'; readonly tier: 'default' | 'priority' | null }
  /** The provider gave up; nothing comes after it. */
  | { readonly type: 'failure'; readonly complaint: ProviderError }

/**
 * The model begins a tool call. `index` counts the tool calls of the choice from 0; id and name are final. Calls may
 * interleave. One without a `tool-call` at the end of its answer was cut off.
 */
export type ToolCallBegin = {
  readonly type: 'tool-call-begin'
  readonly choice: number
  readonly index: number
  readonly id: string
  readonly name: string
}

/** A fragment of the arguments of the call that began under this index; joined, they are its whole arguments. */
export type ToolCallDelta = {
  readonly type: 'tool-call-delta'
  readonly choice: number
  readonly index: number
  readonly arguments: string
}

/**
 * The end of a tool call, with all of it: whoever needs only whole calls reads no other event of them. `state` is what
 * the provider wants back with the call on the next turn.
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

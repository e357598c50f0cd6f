import type { Json } from '../lib/json.ts'
import type { Complaint } from './complaint.ts'
import type { Usage } from './usage.ts'

/**
 * What a model says, in no wire's format. `choice` counts the answers of one request from 0. A wire tells
 * `finish` once for each choice and last of it, when the provider's whole answer is there.
 */
export type GenerationEvent =
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  | ToolCallEvent
  | { readonly type: 'finish'; readonly choice: number; readonly reason: FinishReason }
  /** The model has ended the choice: nothing of it comes any more but, once the whole answer is there, its `finish`. */
  | { readonly type: 'ending'; readonly choice: number }
  /** The counts so far; a later one replaces it. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'tier'; readonly tier: 'default' | 'priority' | null }
  /** The provider gave up; nothing comes after it. */
  | { readonly type: 'failure'; readonly complaint: Complaint }

/** One whole tool call. `state` is what the provider wants back with the call on the next turn. */
export type ToolCallEvent = {
  readonly type: 'tool-call'
  readonly choice: number
  readonly call: ToolCall
  readonly state?: Json
}

/** `arguments` is JSON text as the model wrote it, `{}` where it wrote nothing. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string }

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

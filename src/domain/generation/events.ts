import type { Fields, Json } from '../../lib/json/json.ts'
import type { ProviderError } from './provider-error.ts'
import type { ProtocolName } from './source-request.ts'
import type { Usage } from './usage.ts'

/**
 * An event of a model's output, independent of the protocol. `choice` counts the choices of one request from
 * 0. A protocol emits `finish` once for each choice and as its last event, when the provider's response is
 * complete.
 */
export type GenerationEvent =
  | TextBegin
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  /** The end of a block of text, from protocols that divide text into blocks: the text after it is another block. */
  | { readonly type: 'text-end'; readonly choice: number }
  | Annotation
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  | ReasoningEnd
  | ProviderBlock
  /** The log probabilities of the text since the last such event, in the form of OpenAI's `logprobs`. */
  | { readonly type: 'logprobs'; readonly choice: number; readonly logprobs: Json }
  /** The embedding of the input at this index: numbers, or base64 text where the request asks for it. */
  | { readonly type: 'embedding'; readonly index: number; readonly embedding: Json }
  | ToolCallBegin
  | ToolCallDelta
  | ToolCallEvent
  | Finish
  /** The model has ended the choice: only its `finish` follows, once the response is complete. */
  | { readonly type: 'ending'; readonly choice: number }
  /** The token counts so far; a later event replaces them. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'tier'; readonly tier: 'default' | 'priority' | null }
  /** The provider has failed; no event follows. */
  | { readonly type: 'failure'; readonly error: ProviderError }

/** A block of text begins with fields that only its protocol has, such as an empty list of citations. */
export type TextBegin = {
  readonly type: 'text-begin'
  readonly choice: number
  readonly providerFields: ProviderFields
}

/** An annotation of the block of text that is open, such as a citation, in the form of its protocol. */
export type Annotation = {
  readonly type: 'annotation'
  readonly choice: number
  readonly protocol: ProtocolName
  readonly annotation: Fields
}

/**
 * The end of a block of reasoning, whose text, if it has any, came before it. `state` is what the provider wants
 * back on the next turn, in the form of the `state` of a tool call.
 */
export type ReasoningEnd = {
  readonly type: 'reasoning-end'
  readonly choice: number
  readonly state: Json
  /** Anthropic's signature of the block. */
  readonly signature?: string
  /** Anthropic's encrypted content of a block that has no text. */
  readonly redacted?: string
}

/** A block that only the providers of its protocol understand, complete, such as the use of a tool that they run. */
export type ProviderBlock = {
  readonly type: 'provider-block'
  readonly choice: number
  readonly protocol: ProtocolName
  readonly block: Fields
}

/** Fields that only one protocol has, as its provider wrote them. */
export type ProviderFields = { readonly protocol: ProtocolName; readonly fields: Fields }

/** The end of a choice. */
export type Finish = {
  readonly type: 'finish'
  readonly choice: number
  readonly reason: FinishReason
  /** The provider's own reason, where `reason` says less. */
  readonly providerReason?: string
  /** The stop sequence that ended the choice, where the provider names it. */
  readonly stopSequence?: string
  /** What else the provider says about the end of its response. */
  readonly providerFields?: ProviderFields
}

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
  /** What else the provider says about the call, and wants back with it. */
  readonly providerFields?: ProviderFields
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

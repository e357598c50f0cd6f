import type { Fields, Json } from '../../lib/json/json.ts'
import type { ToolCall } from './events.ts'
import type { Input } from './inputs.ts'
import type { Operation, ProtocolName, ProviderTool, SourceRequest } from './source-request.ts'

/** A request to a model, independent of the protocol. */
export type Generation = {
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly format?: Format
  /** The maximum tokens of one choice, reasoning included. */
  readonly maxTokens?: number
  /** The number of choices; absent for one. */
  readonly choices?: number
  readonly stop?: readonly string[]
  readonly temperature?: number
  readonly topP?: number
  readonly seed?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly logitBias?: Readonly<Record<string, number>>
  readonly effort?: Effort
  readonly serviceTier?: 'auto' | 'default' | 'flex' | 'priority'
  readonly user?: string
  /** Absent for a conversation. */
  readonly operation?: Operation
  /** The prompts or texts of an operation. Absent for a conversation. */
  readonly inputs?: readonly Input[]
  readonly embedding?: EmbeddingOptions
  /** Requests the log probabilities of the output tokens, and of this many alternatives to each. */
  readonly logprobs?: { readonly alternatives?: number }
  /** Tools that a provider runs itself, or whose form only its protocol defines. */
  readonly providerTools?: readonly ProviderTool[]
  readonly source?: SourceRequest
  /** The provider may summarize the conversation before it answers: that is a second prompt with a second answer. */
  readonly compaction?: boolean
  /** Properties of the request that the API does not name: only protocols that share them send them on. */
  readonly extras: Fields
}

/** `format` is that of the embeddings in the events: base64 text holds little-endian floats of 32 bits. */
export type EmbeddingOptions = { readonly format: 'float' | 'base64'; readonly dimensions?: number }

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

type MessageContent = {
  readonly parts: readonly Part[]
  readonly name?: string
  /** Properties of the message that the API does not name. */
  readonly extras?: Fields
}

export type SystemMessage = MessageContent & { readonly role: 'system' | 'developer' }
export type UserMessage = MessageContent & { readonly role: 'user' }
export type AssistantMessage = MessageContent & {
  readonly role: 'assistant'
  readonly toolCalls: readonly PastToolCall[]
}
/** The result of the tool call with this id. */
export type ToolMessage = MessageContent & { readonly role: 'tool'; readonly callId: string }

/**
 * A tool call of an earlier turn, with the state that its provider wants back. `provider` names that provider where
 * the caller sent the state; any other provider does not receive it.
 */
export type PastToolCall = ToolCall & { readonly state?: Json; readonly provider?: string }

export type Part = TextPart | ImagePart | ForeignPart

export type TextPart = { readonly type: 'text'; readonly text: string; readonly extras?: Fields }
/** `url` is an http(s) or a data URL. */
export type ImagePart = {
  readonly type: 'image'
  readonly url: string
  readonly detail?: string
  readonly extras?: Fields
}
/** A typed part beyond text and images, as the caller wrote it: in the form of `protocol`, or of OpenAI's APIs. */
export type ForeignPart = {
  readonly type: 'foreign'
  readonly value: Fields & { readonly type: string }
  readonly protocol?: ProtocolName
}

export type Tool = {
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly parameters?: Fields
  readonly strict?: boolean
}

/** `{ name }` forces that tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

export type Format =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly description?: string
      readonly schema: Fields
      readonly strict?: boolean
    }

/** From the lowest to the highest. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

import type { Fields, Json } from '../../lib/json/json.ts'
import type { ProtocolName, ToolCall } from './events.ts'

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
  /** The text that follows the completion of each prompt. */
  readonly suffix?: string
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
type UserMessage = MessageContent & { readonly role: 'user' }
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

/** The task of a request that does not continue a conversation: to continue a text, or to embed texts. */
export type Operation = 'completion' | 'embedding'

/**
 * The request as the caller wrote it, where the caller's API is itself the protocol of some providers: these
 * receive it unchanged, except for the fields that the gateway sets. The other fields of the generation say the
 * same for all other protocols, for limits and for billing.
 */
export type SourceRequest = {
  readonly protocol: ProtocolName
  readonly body: Fields
  /** The headers of the caller that belong to the request, in lower case, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly container?: ContainerReference
}

/**
 * The container of a provider in which the code of an earlier answer ran. `param` is the path of its id in the request, and
 * `provider` the one that has it, once that is known.
 */
export type ContainerReference = { readonly id: string; readonly param: string; readonly provider?: string }

/** A tool in the form of the only protocol that supports it. */
export type ProviderTool = {
  readonly protocol: ProtocolName
  /** Its type or name, as the caller knows it. */
  readonly name: string
  /** The path of the tool in the request. */
  readonly param: string
  /** The provider runs the tool itself, and may charge for it beyond the tokens. */
  readonly hosted: boolean
}

/** A prompt of a completion or an input of an embedding request: a text, or the ids of its tokens. */
export type Input = string | readonly number[]

/**
 * The maximum tokens of a choice which neither the request nor the model bounds: they are reserved, and sent to a provider
 * that requires a limit.
 */
export const defaultMaxTokens = 32_768

type Counted = Pick<Generation, 'compaction' | 'operation' | 'choices' | 'inputs'>

/** The number of choices of the complete response: a completion has its choices for each prompt. */
export function totalChoices({ operation, choices = 1, inputs }: Counted): number {
  return operation === 'completion' ? choices * (inputs?.length ?? 1) : choices
}

/** The number of prompts, each of which fills a context window of its own. */
export function promptCount(request: Counted): number {
  return Math.max(1, request.inputs?.length ?? 1) * callsOfModel(request)
}

/** The maximum number of times that the provider calls the model for one answer. */
export function callsOfModel({ compaction }: Pick<Generation, 'compaction'>): number {
  return compaction === true ? 2 : 1
}

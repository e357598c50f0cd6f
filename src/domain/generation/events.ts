import type { Fields, Json } from '../../lib/json/json.ts'

/** An embedding as JSON: a list of numbers, or base64 text where the request asks for it. */
export type Embedding = { readonly json: string; readonly dimensions: number }

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
  | Citations
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  | ReasoningEnd
  | ProviderBlock
  /** The log probabilities of the text since the last such event, in the form of OpenAI's `logprobs`. */
  | { readonly type: 'logprobs'; readonly choice: number; readonly logprobs: Json }
  /** The embedding of the input at this index. */
  | { readonly type: 'embedding'; readonly index: number; readonly embedding: Embedding }
  | ToolCallBegin
  | ToolCallDelta
  | ToolCallEvent
  | Finish
  /** The model has ended the choice: only its `finish` follows, once the response is complete. */
  | { readonly type: 'ending'; readonly choice: number }
  /** The token counts so far; a later event replaces them. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'tier'; readonly tier: ServedTier }
  /** The provider has failed; no event follows. */
  | { readonly type: 'failure'; readonly error: ProviderError }

/** Whether the event is a part of the answer, and not only about it. Pages are found before the model writes. */
export function isOutput({ type }: GenerationEvent): boolean {
  return type !== 'usage' && type !== 'tier' && type !== 'text-begin' && type !== 'citations'
}

/** The service tier that served a response; null for one that our API does not know. */
export type ServedTier = 'default' | 'priority' | null

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

/** Web pages that the answer cites, each once. Where the text cites by number, they are in the order of the numbers. */
type Citations = {
  readonly type: 'citations'
  readonly choice: number
  readonly citations: readonly Citation[]
}

/** A cited web page. The indices are those of the text that cites it, and 0 where the provider gives none. */
export type Citation = {
  readonly url: string
  readonly title: string
  readonly startIndex: number
  readonly endIndex: number
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
type ProviderBlock = {
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
  /** Further fields of the provider about the end of its response. */
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
  /** Further fields of the provider about the call, which it wants back with it. */
  readonly providerFields?: ProviderFields
  /** The state of the call, where it is received with the begin; its end has the state, too. */
  readonly state?: Json
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

/** The protocols of providers. */
export type ProtocolName =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'responses'
  | 'anthropic'
  | 'gemini'
  | 'gemini-embeddings'

/** Token counts of one request. */
export type Usage = {
  /** The tokens of the prompt, cached and newly cached ones included. */
  readonly promptTokens: number
  /** The tokens of the answer, reasoning included. */
  readonly completionTokens: number
  /** The part of the prompt that was read from a cache. */
  readonly cachedTokens?: number
  /** The part of the prompt that was written to a cache, one-hour writes included. */
  readonly cacheWriteTokens?: number
  /** The part of the cache writes that is stored for an hour. */
  readonly longCacheWriteTokens?: number
  readonly reasoningTokens?: number
  readonly promptAudioTokens?: number
  readonly completionAudioTokens?: number
}

/**
 * An error as the provider reports it, in the provider's words. It has to be classified and scrubbed before a
 * caller sees it.
 */
export type ProviderError = {
  readonly message: string
  /** The HTTP status that the provider means, even if its response came with a 200. */
  readonly status?: number
  readonly type?: string
  readonly code?: string
  /** The field of the provider's request that caused the error, or its path. */
  readonly param?: string
  /** Whether `status` is that of the HTTP response, and not one that its body names. */
  readonly fromStatusLine?: true
  /**
   * Found by the gateway and not reported by the provider: the message is the gateway's own, and may be
   * shown.
   */
  readonly detected?: true
  /** Seconds. */
  readonly retryAfter?: number
}

/** The message of an error for which the provider gives none. */
export const noReasonMessage = 'The provider gave no reason.'

/** The error of a response that the gateway cannot use; the message continues “The provider failed: …”. */
export function detectedError(message: string): ProviderError {
  return { message, detected: true }
}

/** The response ended without its final event, on a connection that closed properly. */
export const endedEarly = detectedError('its response ended before it was complete')

/** The connection was closed before the response ended. */
export const connectionClosed = detectedError('the connection was closed before its response was complete')

/** The response holds bytes that are not of its format. */
export const invalidData = detectedError('its response contains invalid data')

/** The response could not be read, for example because its compression is broken. */
export const unreadable = detectedError('its response could not be read')

/** The response is nested deeper or longer than the gateway reads. */
export const tooLarge = detectedError('its response is too large to be read')

/** The log probabilities of a chunk, with the text that they belong to. */
export type LogprobsWithText = Extract<GenerationEvent, { readonly type: 'logprobs' }> & {
  readonly text?: string
}

/** The batch with each text joined to the log probabilities that directly follow it, for APIs that send both at once. */
export function joinLogprobs(
  batch: readonly GenerationEvent[],
): readonly (GenerationEvent | LogprobsWithText)[] {
  return batch.flatMap((event, index): readonly (GenerationEvent | LogprobsWithText)[] => {
    if (event.type === 'text') return isLogprobsOf(event.choice, batch[index + 1]) ? [] : [event]
    const previous = batch[index - 1]
    if (event.type !== 'logprobs' || previous?.type !== 'text' || previous.choice !== event.choice)
      return [event]
    return [{ ...event, text: previous.text }]
  })
}

function isLogprobsOf(choice: number, event: GenerationEvent | undefined): boolean {
  return event?.type === 'logprobs' && event.choice === choice
}

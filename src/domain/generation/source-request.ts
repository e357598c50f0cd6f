import type { Fields } from '../../lib/json/json.ts'

/** The protocols of providers. */
export type ProtocolName =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'responses'
  | 'anthropic'
  | 'gemini'
  | 'gemini-embeddings'

/** What a request asks of a model other than to continue a conversation: to continue a text, or to embed texts. */
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
}

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

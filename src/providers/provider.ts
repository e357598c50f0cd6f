import type { GenerationEvent } from '../domain/generation/events.ts'
import type { Parameter } from '../domain/generation/parameters.ts'
import type { Generation, Operation } from '../domain/generation/request.ts'
import type { AbortLike } from '../lib/abort.ts'
import type { Secret } from '../lib/secret.ts'
import type { Body, Protocol, Target } from './protocols/protocol.ts'

/** A configured provider: its URL, its key and its kind, as data. */
export type Provider = Address & {
  readonly name: string
  readonly kind: Kind
  readonly key?: Secret
  /** Supplies short-lived keys where no key is configured. */
  readonly credentials?: Credentials
  readonly headers: Readonly<Record<string, string>>
  /** In milliseconds. */
  readonly timeouts: Timeouts
  /** The gateway lists its models at start and every minute, and enables them. */
  readonly discover: boolean
  /** Absent where any number of requests may be in progress. */
  readonly slots?: Slots
}

/** Supplies keys that expire and renews them in time. Rejects with the error that the caller of the API receives. */
export type Credentials = { token(signal: AbortSignal): Promise<string> }

/** In milliseconds: until the connection is established, until the first event, and between two chunks of a stream. */
export type Timeouts = { readonly connect: number; readonly firstByte: number; readonly idle: number }

/** The number of requests in progress at once; how long further ones wait, in milliseconds, and how many of them. */
export type Slots = { readonly concurrency: number; readonly waitMs: number; readonly length: number }

/** A kind of provider, by which the gateway knows how to call it. */
export type Kind = RemoteKind | LocalKind

/** A kind that is called over HTTP: all facts about it are in this record. */
export type RemoteKind = {
  readonly name: string
  /** The base URL of the provider's documentation; absent where only the operator knows it. */
  readonly baseUrl?: string
  /** The environment variables that usually hold the key, in order; none for engines that need no key. */
  readonly keyVariables: readonly string[]
  /** True where the provider works without a key. */
  readonly keyless?: boolean
  /** True where a project and a location may replace the base URL, and a service account the key. */
  readonly googleCloud?: boolean
  readonly protocol: Protocol
  /** The path below the base URL, with a leading slash. */
  path(target: Target, address: Address): string
  /** The name of a model by which its family is known; absent where the provider's own name tells it. */
  familyOf?(model: string, slug: string): string
  /** The protocol and the path of the operations that the provider offers beside conversations. */
  readonly operations?: Partial<Readonly<Record<Operation, KindOperation>>>
  /** True where the provider offers the Responses API beside its chat completions. */
  readonly responsesApi?: boolean
  /** How the provider counts the tokens of a prompt without generating; absent where it does not. */
  readonly tokenCount?: TokenCount
  /** Where the provider lists its models; absent for the default, `/models`. */
  readonly listing?: ModelListing
  /** Headers of every request; those that the operator configures override them. */
  readonly headers?: Readonly<Record<string, string>>
  /** The headers that carry the key. */
  authorize(key: string): Record<string, string>
  /** The settings of `providers` in weir.yaml that this kind supports beyond the common ones. */
  readonly settings?: readonly KindSetting[]
  /** OpenTelemetry's value of `gen_ai.provider.name`; absent where it is the name of the kind. */
  readonly telemetryName?: string
  /** The documented maximum number of tokens of one image in the prompt of a model; absent where it is unknown. */
  maxImageTokens?(model: string): number
}

/** How a provider serves an operation; the path as in its kind. */
export type KindOperation = Pick<RemoteKind, 'protocol' | 'path'> & {
  /** True where the provider does not accept token ids in place of text. */
  readonly textOnly?: boolean
}

/** The path below the base URL, and the body for the rendered body of a request. The reply has `input_tokens`. */
type TokenCount = { readonly path: string; body(rendered: Body): Body }

/** A setting of a provider that only some kinds support. `api` is one too: it follows from `responsesApi`. */
export type KindSetting = 'api_version' | 'project' | 'location' | 'credentials'

/** A kind that generates inside this process. */
export type LocalKind = {
  readonly name: string
  readonly parameters: ReadonlySet<Parameter>
  generate(generation: Generation, signal: AbortLike): AsyncGenerator<readonly GenerationEvent[]>
}

/** The part of a provider's configuration on which the path of a request depends. */
export type Address = {
  readonly baseUrl: string
  /** Azure: the api-version of its older URLs. */
  readonly apiVersion?: string
}

/** A model in the list of a provider. */
export type ListedModel = {
  /** The provider's id of the model. */
  readonly id: string
  /** In tokens, where the list contains it. */
  readonly contextWindow?: number
  /** How many requests the engine serves at once, where it reports that. */
  readonly slots?: number
}

/** Where a provider lists its models, and in which format. */
export type ModelListing = {
  /** The path below the base URL; undefined where the provider has no list. */
  path(address: Address): string | undefined
  /** Parses the list; a model without a name has no id. Undefined where the body is not a list. */
  models(body: unknown): readonly Partial<ListedModel>[] | undefined
  /** A further request for each model, where the list lacks the context window. */
  readonly details?: ListingDetails
}

/** A further request for each model of a list. */
export type ListingDetails = {
  /** Undefined where the base URL does not reveal it. */
  url(address: Address, id: string): string | undefined
  /** The body of a POST request; without it, a GET request is sent. */
  readonly body?: (id: string) => object
  contextWindow(body: unknown): number | undefined
  slots?(body: unknown): number | undefined
  /** Whether the context window depends on how the engine was started: it is requested with each list. */
  readonly changes?: boolean
}

/** The header with the key as a bearer token, which most providers take. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}

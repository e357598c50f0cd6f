import type { GenerationEvent } from '../domain/generation/events.ts'
import type { Parameter } from '../domain/generation/parameters.ts'
import type { Generation } from '../domain/generation/request.ts'
import type { AbortLike } from '../lib/abort.ts'
import type { Secret } from '../lib/secret.ts'
import type { ModelListing } from './model-listing.ts'
import type { Protocol, Target } from './protocols/protocol.ts'

/** A configured provider: where to ask, with which key, in which language. All of it is data. */
export type Provider = {
  readonly name: string
  readonly kind: Kind
  readonly baseUrl: string
  /** Azure: the api-version of its older URLs. */
  readonly apiVersion?: string
  readonly key?: Secret
  /** What gives a key for the moment where none is set. */
  readonly credentials?: Credentials
  readonly headers: Readonly<Record<string, string>>
  /** In milliseconds. */
  readonly timeouts: Timeouts
  /** Its models are listed at start and every minute, and enabled. */
  readonly discover: boolean
}

/** Gives keys that end, and new ones in time. Rejects with the error that the caller gets. */
export type Credentials = { token(signal: AbortSignal): Promise<string> }

/** Where a provider is, as far as it decides a path. */
export type Address = Pick<Provider, 'baseUrl' | 'apiVersion'>

/** In milliseconds: until the connection stands, until the first event, between two pieces of a stream. */
export type Timeouts = { readonly connect: number; readonly firstByte: number; readonly idle: number }

/** How a kind of provider is reached. */
export type Kind = RemoteKind | LocalKind

export type RemoteKind = {
  readonly name: string
  /** What the provider's documentation calls the base; absent where only the operator knows it. */
  readonly baseUrl?: string
  /** The environment variables that usually hold the key, in order; none for engines that want no key. */
  readonly keyVariables: readonly string[]
  /** True where the provider works without a key. */
  readonly keyless?: boolean
  /** True where a project and a location may stand for the address, and a service account for the key. */
  readonly googleCloud?: boolean
  readonly protocol: Protocol
  /** The path behind the base URL, with a leading slash. */
  path(target: Target, provider: Address): string
  /** Where it is not as usual. */
  readonly listing?: ModelListing
  /** What every request says beside the key; the operator's own headers come after. */
  readonly headers?: Readonly<Record<string, string>>
  /** The headers that carry the key. */
  authorize(key: string): Record<string, string>
}

/** A kind that answers inside this process. */
export type LocalKind = {
  readonly name: string
  readonly parameters: ReadonlySet<Parameter>
  generate(generation: Generation, signal: AbortLike): AsyncGenerator<readonly GenerationEvent[]>
}

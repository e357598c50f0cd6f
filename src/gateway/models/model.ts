import type { FailureKind, FastMode, Pricing, ReasoningDetails } from '../../config/model-details.ts'
import type { ModelApi, Parameter } from '../../domain/generation/parameters.ts'
import type { Operation } from '../../domain/generation/request.ts'
import type { KindOperation, Provider } from '../../providers/provider.ts'

/** A model as callers see it, with the routes that serve it. */
export type Model = {
  /** `author/model`; also its id. */
  readonly slug: string
  readonly displayName: string
  readonly author: string
  readonly ownedBy: string
  /** Unix seconds: the release date, or when the model was first seen. */
  readonly created: number
  /** The release date, `YYYY-MM-DD`; absent where it is unknown. */
  readonly released?: string
  /** The largest of its routes: the cost of every prompt is bounded by it. */
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly pricing?: Pricing
  /** The day on which its provider stops serving it, YYYY-MM-DD. */
  readonly shutdownDate?: string
  readonly inputModalities: readonly string[]
  readonly outputModalities: readonly string[]
  readonly supportedParameters: ReadonlySet<Parameter>
  readonly supportedApis: readonly ModelApi[]
  readonly reasoning?: ReasoningDetails
  readonly fast?: FastMode
  readonly variantOf?: string
  readonly aliases: readonly string[]
  /** The routes to configured providers, in the order of the settings. */
  readonly routes: readonly ModelRoute[]
  /** Whether one of the weighted routes serves all requests of a session; default: `session`. */
  readonly affinity?: 'session' | 'none'
  /** Milliseconds until a route must have sent the first token of a stream; absent for no limit. */
  readonly firstTokenTimeoutMs?: number
  /** Known only from a provider's list. */
  readonly discovered?: boolean
  /** Why the model is disabled, in a sentence that says what to do; absent while it is enabled. */
  readonly disabled?: string
  /** Enabled by name, but none of its providers has a key: the sentence of the 502. */
  readonly keyMissing?: string
}

export type ModelRoute = {
  readonly provider: Provider
  readonly model: string
  readonly weight?: number
  /** The failures after which the next route is tried; absent: the usual ones. */
  readonly on?: readonly FailureKind[]
  /** The context window of this route, where it has one of its own. */
  readonly contextWindow?: number
}

/** Identifies a route, also after its model was loaded again. */
export function routeKey({ provider, model }: ModelRoute): string {
  return `${provider.name}\n${model}`
}

/** The operation as the provider of the route offers it; undefined where it does not. */
export function offeredOperation(
  { provider: { kind } }: Pick<ModelRoute, 'provider'>,
  operation: Operation,
): KindOperation | undefined {
  return 'protocol' in kind ? kind.operations?.[operation] : undefined
}

const operations: Partial<Record<ModelApi, Operation>> = {
  completions: 'completion',
  embeddings: 'embedding',
}

/** Whether a provider of the model offers the API. A model whose providers have no key is rejected for that. */
export function isOffered({ routes, keyMissing }: Model, api: ModelApi): boolean {
  const operation = operations[api]
  if (operation === undefined || keyMissing !== undefined) return true
  return routes.some((route) => offeredOperation(route, operation))
}

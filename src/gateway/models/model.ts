import type { FastMode, Pricing, ReasoningFacts } from '../../config/model-facts.ts'
import type { Parameter } from '../../domain/generation/parameters.ts'
import type { Provider } from '../../providers/provider.ts'

/** A model as callers see it, with the places that serve it. */
export type Model = {
  /** `author/model`; also its id. */
  readonly slug: string
  readonly displayName: string
  readonly author: string
  readonly ownedBy: string
  /** Unix seconds: release date, or when it was first seen. */
  readonly created: number
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly pricing?: Pricing
  readonly inputModalities: readonly string[]
  readonly outputModalities: readonly string[]
  readonly supportedParameters: ReadonlySet<Parameter>
  readonly reasoning?: ReasoningFacts
  readonly fast?: FastMode
  readonly variantOf?: string
  readonly aliases: readonly string[]
  /** Those of configured providers, in the order of the settings. */
  readonly routes: readonly ModelRoute[]
  /** Known only because a provider listed it. */
  readonly discovered?: boolean
  /** Why it is off, in a sentence that says what to do; absent where it is on. */
  readonly disabled?: string
  /** Switched on by name, but none of its providers has a key: the sentence for the 502. */
  readonly keyMissing?: string
}

export type ModelRoute = { readonly provider: Provider; readonly model: string; readonly weight?: number }

/** All models at one moment. A change of settings or a discovery makes a new one. */
export type Models = {
  /** By slug, alias or unambiguous bare name; also models that are off. */
  find(name: string): Model | undefined
  /** Those that a bare name may mean, where they are several; empty for any other name. */
  sharing(name: string): readonly Model[]
  /** Those that are on, by slug. */
  readonly enabled: readonly Model[]
  readonly all: readonly Model[]
}

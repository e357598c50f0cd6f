import type { ModelFacts } from '../../config/model-facts.ts'
import type { ProviderSet } from '../../providers/configure.ts'

/** What the list of models is made from. */
export type ModelsInput = {
  readonly catalog: readonly ModelFacts[]
  /** `models` of the settings. */
  readonly settings: readonly ModelFacts[]
  readonly providers: ConfiguredProviders
  /** The provider's own model ids, by the name of the provider that listed them. */
  readonly discovered: ReadonlyMap<string, readonly string[]>
  /** Unix seconds at which a slug without a release date was first seen. */
  readonly firstSeen: (slug: string) => number
}

/** The providers that can be asked, and what the others lack. */
export type ConfiguredProviders = Pick<ProviderSet, 'configured' | 'missing'>

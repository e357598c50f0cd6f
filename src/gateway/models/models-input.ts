import type { ModelFacts } from '../../config/model-facts.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import type { ListedModel } from '../../providers/model-listing.ts'

/** What the list of models is made from. */
export type ModelsInput = {
  readonly catalog: readonly ModelFacts[]
  /** `models` of the settings. */
  readonly settings: readonly ModelFacts[]
  readonly providers: ConfiguredProviders
  /** The models that providers listed, by the name of the provider. */
  readonly discovered: ReadonlyMap<string, readonly ListedModel[]>
  /** Unix seconds at which a slug without a release date was first seen. */
  readonly firstSeen: (slug: string) => number
}

/** The providers that can be asked, and what the others lack. */
export type ConfiguredProviders = Pick<ProviderSet, 'configured' | 'missing'>

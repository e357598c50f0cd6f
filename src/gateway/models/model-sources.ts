import type { ModelFacts } from '../../config/model-facts.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import type { ListedModel } from '../../providers/model-listing.ts'
import { echoFacts, echoReplaced } from './echo-model.ts'

/** What is known of a model from all sources together. */
export type KnownModel = {
  readonly facts: ModelFacts
  /** Only a provider's list knows it. */
  readonly discovered?: boolean
  /** What the settings say of `enabled`. */
  readonly enabledSetting?: boolean
  /** Where the settings describe it; absent where they do not. */
  readonly path?: string
  /** Why it has no routes, where that is not a mistake. */
  readonly unlistedReason?: string
  /** Why it is not served while its provider is not configured, where that is not for want of a key. */
  readonly unservedReason?: string
}

/** Every model by its slug: built in, then listed by providers, then as the settings change them. */
export function gatherModels(input: ModelsInput): KnownModel[] {
  const known = new Map<string, KnownModel>()
  for (const facts of input.catalog) known.set(facts.slug, { facts })
  for (const facts of echoFacts(input.providers.configured))
    known.set(facts.slug, { facts, unservedReason: echoReplaced })
  for (const facts of discoveredFacts(input))
    if (!known.has(facts.slug)) known.set(facts.slug, { facts, discovered: true })
  for (const [index, entry] of input.settings.entries())
    known.set(entry.slug, withEntry(known.get(entry.slug), entry, `models[${index}]`, input.providers))
  return [...known.values()]
}

function discoveredFacts({ discovered }: ModelsInput): ModelFacts[] {
  return [...discovered].flatMap(([provider, ids]) =>
    ids.map(({ id, contextWindow }) => ({
      slug: `${provider}/${id}`,
      ...(contextWindow !== undefined && { context_window: contextWindow }),
      routes: [{ provider, model: id }],
    })),
  )
}

/** The entry over what was known: it changes what it names, prices one by one. */
function withEntry(
  base: KnownModel | undefined,
  entry: ModelFacts,
  path: string,
  providers: ConfiguredProviders,
): KnownModel {
  const facts = { ...base?.facts, ...entry }
  if (entry.pricing) facts.pricing = { ...base?.facts.pricing, ...entry.pricing }
  const unlisted = facts.routes ? undefined : unlistedReasonOf(entry.slug, providers)
  return {
    facts,
    enabledSetting: entry.enabled,
    path,
    unlistedReason: unlisted,
    unservedReason: base?.unservedReason,
  }
}

/** A model without routes may be one that its provider has yet to list. */
function unlistedReasonOf(slug: string, { configured }: ConfiguredProviders): string | undefined {
  const name = slug.slice(0, slug.indexOf('/'))
  return configured.get(name)?.discover ? `Provider ${name} does not list it at the moment.` : undefined
}

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

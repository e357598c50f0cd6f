import { catalog } from '../../config/catalog.ts'
import type { ModelDetails, Route } from '../../config/model-details.ts'
import { remoteKind } from '../../providers/kinds/kinds.ts'
import type { Deployment } from './deployment.ts'
import {
  fallbackRoutes,
  type Fallbacks,
  noteUnusedFallbacks,
  routesOf,
  wildcardRoute,
  withFallbacks,
  withoutNeedlessWeights,
} from './routes.ts'
import { describedFacts, distinctPricings } from './described-facts.ts'
import { escapeText, type Notes, quoted } from './source.ts'

/** Another name of a model: `model_group_alias`. */
export type GroupAlias = { readonly alias: string; readonly name: string; readonly path: string }

/** The sources of the models; the providers of the deployments have names. */
type ModelsInput = {
  readonly deployments: readonly Deployment[]
  readonly wildcards: readonly Deployment[]
  readonly fallbacks: Fallbacks
  readonly aliases: readonly GroupAlias[]
  readonly notes: Notes
}

/** A model of the settings, and the entries of the source that it comes from. */
export type ImportedModel = { readonly model: ModelDetails; readonly sources: readonly Deployment[] }

/** Makes a model of all deployments with the same name; names with the same routes and facts become aliases. */
export function importModels(input: ModelsInput): ImportedModel[] {
  const groups = Map.groupBy(input.deployments, ({ name }) => name)
  const resolve = resolverOf(input, groups)
  const names = new Names(groups.keys())
  const models = new Map<string, Draft>()
  for (const [name, deployments] of groups) {
    const fallbacks = fallbackRoutes(name, input.fallbacks, resolve, input.notes)
    const routes = withoutNeedlessWeights(withFallbacks(routesOf(deployments), fallbacks))
    const catalogModel = deployments.find((deployment) => deployment.catalogModel)?.catalogModel
    const key = JSON.stringify([
      routes,
      deployments.map(({ facts, streamTimeout }) => [facts, streamTimeout]),
    ])
    const same = isSlug(name) ? undefined : models.get(key)
    if (same === undefined)
      models.set(models.has(key) ? `slug ${name}` : key, { names: [name], deployments, routes, catalogModel })
    else same.names.push(name)
  }
  const described = [...models.values()].map((draft) => describeDraft(draft, names, input.notes))
  addAliases(described, input, names)
  noteUnusedFallbacks(input.fallbacks, (name) => groups.has(name), input.notes)
  return described.map(({ model, aliases, draft }) => ({
    model: {
      ...model,
      ...(aliases.length > 0 && { aliases: aliases.map(escapeText) }),
      routes: [...draft.routes],
    },
    sources: draft.deployments,
  }))
}

type Draft = {
  readonly names: string[]
  readonly deployments: readonly Deployment[]
  readonly routes: readonly Route[]
  readonly catalogModel: ModelDetails | undefined
}

type Described = { readonly model: ModelDetails; readonly aliases: string[]; readonly draft: Draft }

/** Resolves the name of a fallback: a model, an alias, the id of a deployment, or what a wildcard matches. */
function resolverOf(
  { deployments, wildcards, aliases }: ModelsInput,
  groups: ReadonlyMap<string, readonly Deployment[]>,
): (name: string) => readonly Route[] | undefined {
  const targets = new Map(aliases.map(({ alias, name }) => [alias, name]))
  const byId = new Map(
    deployments.flatMap((deployment) => (deployment.id ? [[deployment.id, deployment]] : [])),
  )
  const resolved = new Map<string, readonly Route[] | undefined>()
  const find = (name: string) => {
    const group = groups.get(name) ?? groups.get(targets.get(name) ?? '')
    if (group !== undefined) return routesOf(group)
    const deployment = byId.get(name)
    if (deployment !== undefined) return routesOf([deployment])
    const route = wildcardRoute(name, wildcards)
    return route === undefined ? undefined : [route]
  }
  return (name) => {
    if (!resolved.has(name)) resolved.set(name, find(name))
    return resolved.get(name)
  }
}

function describeDraft(draft: Draft, names: Names, notes: Notes): Described {
  const { deployments, catalogModel, routes } = draft
  const [name = ''] = draft.names
  const provider = routes[0]?.provider ?? 'litellm'
  const slug = names.takeSlug(name, provider, catalogModel?.slug)
  const own = catalog.models.find((model) => model.slug === slug)
  const model: ModelDetails = {
    slug: escapeText(slug),
    ...(own?.enabled === false && { enabled: true }),
    ...describedFacts(deployments, catalogModel, own),
  }
  if (!model.pricing && !own?.pricing) notePrice(draft, name, notes)
  if (distinctPricings(deployments).length > 1) notePrices(draft, name, notes)
  if (new Set(deployments.map(({ streamTimeout }) => streamTimeout)).size > 1)
    noteStreamTimeouts(draft, name, notes)
  return { model, aliases: [], draft }
}

/** LiteLLM has a price list of its own. A server of the operator needs no price. */
function notePrice({ deployments: [first] }: Draft, name: string, notes: Notes): void {
  const kind = remoteKind(first?.provider.draft.kind ?? '')
  if (first === undefined || kind === undefined || kind.keyless === true) return
  notes.add(
    first.path,
    `Weir knows no price of ${quoted(name)}; set pricing of the model to record what it costs.`,
  )
}

function notePrices({ deployments: [first] }: Draft, name: string, notes: Notes): void {
  notes.add(
    first?.path ?? 'model_list',
    `The deployments of ${quoted(name)} have different prices; the model has those of the most expensive one.`,
  )
}

function noteStreamTimeouts({ deployments: [first] }: Draft, name: string, notes: Notes): void {
  notes.add(
    first?.path ?? 'model_list',
    `The deployments of ${quoted(name)} have different stream timeouts; the model has the longest one.`,
  )
}

/** Adds the names of the source that are not the slug, then those of `model_group_alias`. */
function addAliases(described: readonly Described[], { aliases, notes }: ModelsInput, names: Names): void {
  const byName = new Map<string, Described>()
  for (const entry of described)
    for (const name of entry.draft.names) {
      byName.set(name, entry)
      if (escapeText(name) === entry.model.slug) continue
      if (names.takeAlias(name)) entry.aliases.push(name)
      else notes.add(entry.draft.deployments[0]?.path ?? '', `Weir has another model named ${quoted(name)}.`)
    }
  for (const { alias, name, path } of aliases) {
    const target = byName.get(name)
    if (alias.trim() === '') notes.add(path, 'This alias has no name.')
    else if (target === undefined) notes.add(path, 'This alias names no imported model.')
    else if (names.takeAlias(alias)) target.aliases.push(alias)
    else if (byName.get(alias) !== target) notes.add(path, `Weir has another model named ${quoted(alias)}.`)
  }
}

/** The slugs of the models that Weir has without any settings. */
const builtInSlugs: ReadonlySet<string> = new Set([...catalog.models.map(({ slug }) => slug), 'weir/echo'])

/** Chooses slugs and aliases so that each name belongs to one model. */
class Names {
  readonly #used = new Set<string>()

  /** `reserved`: the names of models that are slugs already, which no other model may take. */
  constructor(reserved: Iterable<string>) {
    for (const name of reserved) if (isSlug(name)) this.#used.add(name)
  }

  /** Returns a slug: the name if it is one, else the model's own in the catalog, else the provider's and the name. */
  takeSlug(name: string, provider: string, catalogSlug: string | undefined): string {
    if (isSlug(name)) return name
    if (catalogSlug !== undefined && !this.#used.has(catalogSlug)) return this.#take(catalogSlug)
    const word = name.replaceAll(/\s+/g, '-').replace(/^\/+/, '') || 'model'
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? '' : `-${number}`
      const free = [`${provider}/${word}${suffix}`, `litellm/${word}${suffix}`].find((slug) =>
        this.#isFree(slug),
      )
      if (free !== undefined) return this.#take(free)
    }
  }

  /** Takes the alias; false if it names another model already. */
  takeAlias(alias: string): boolean {
    if (!this.#isFree(alias)) return false
    this.#take(alias)
    return true
  }

  #isFree(name: string): boolean {
    return !this.#used.has(name) && !builtInSlugs.has(name)
  }

  #take(name: string): string {
    this.#used.add(name)
    return name
  }
}

/** True for `author/model`. */
function isSlug(name: string): boolean {
  return /^[^/\s]+\/\S+$/.test(name)
}

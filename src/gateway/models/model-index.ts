import type { Model } from './model.ts'

/** The names that resolve to a model, and the ambiguous ones. */
export type ModelIndex = {
  readonly names: ReadonlyMap<string, Model>
  /** The models of a bare name that several models share. */
  readonly ambiguous: ReadonlyMap<string, readonly Model[]>
}

/**
 * Slugs come before aliases, aliases before bare names (`gpt-5-mini`, or the last segment of a longer slug)
 * that only one model has. Among the models that share a bare name, an enabled one takes precedence over a
 * disabled one, and an enabled one of the catalog or the settings over those that a provider listed.
 */
export function indexModels(models: readonly Model[]): ModelIndex {
  const names = new Map(models.map((model) => [model.slug, model]))
  for (const model of models)
    for (const alias of model.aliases) if (!names.has(alias)) names.set(alias, model)
  const ambiguous = new Map<string, readonly Model[]>()
  const enabled = models.filter(({ disabled }) => disabled === undefined)
  for (const candidates of [enabled.filter(({ discovered }) => !discovered), enabled, models])
    for (const bareName of [withoutAuthor, lastSegment])
      addBareNames({ names, ambiguous }, candidates, bareName)
  return { names, ambiguous }
}

/** The slug without its author: `gpt-5-mini`. */
export function withoutAuthor({ slug }: Pick<Model, 'slug'>): string {
  return slug.slice(slug.indexOf('/') + 1)
}

/** The part of the slug after its last slash. */
export function lastSegment({ slug }: Pick<Model, 'slug'>): string {
  return slug.slice(slug.lastIndexOf('/') + 1)
}

type Names = { readonly names: Map<string, Model>; readonly ambiguous: Map<string, readonly Model[]> }

function addBareNames(
  { names, ambiguous }: Names,
  models: readonly Model[],
  bareName: (model: Model) => string,
): void {
  for (const [name, sharing] of Map.groupBy(models, bareName)) {
    const [only, another] = sharing
    if (names.has(name) || ambiguous.has(name) || only === undefined) continue
    if (another === undefined) names.set(name, only)
    else ambiguous.set(name, sharing)
  }
}

import type { Model } from './model.ts'

/**
 * Every name that finds a model: slugs before aliases, aliases before bare names (`gpt-5-mini`, or the last
 * part of a longer slug) that only one model has. A model that is on is meant before one that is off.
 */
export function indexModels(models: readonly Model[]): ReadonlyMap<string, Model> {
  const names = new Map(models.map((model) => [model.slug, model]))
  for (const model of models)
    for (const alias of model.aliases) if (!names.has(alias)) names.set(alias, model)
  for (const meant of [models.filter(({ disabled }) => disabled === undefined), models]) {
    addUnique(names, meant, ({ slug }) => slug.slice(slug.indexOf('/') + 1))
    addUnique(names, meant, ({ slug }) => slug.slice(slug.lastIndexOf('/') + 1))
  }
  return names
}

function addUnique(names: Map<string, Model>, models: readonly Model[], bareName: (model: Model) => string) {
  for (const [name, [only, another]] of Map.groupBy(models, bareName))
    if (only && !another && !names.has(name)) names.set(name, only)
}

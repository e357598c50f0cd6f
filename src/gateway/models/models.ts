import type { SettingsProblem } from '../../config/problem.ts'
import { indexModels } from './model-index.ts'
import { modelProblems } from './model-problems.ts'
import { resolveModel } from './resolve-model.ts'
import { gatherModels, type ModelsInput } from './model-sources.ts'
import type { Model } from './model.ts'

/** The models, and the problems of the settings that describe them. */
export type RegisteredModels = Models & { readonly problems: readonly SettingsProblem[] }

/** All models of the catalog, the settings and the providers, enabled or disabled. */
export function createModels(input: ModelsInput): RegisteredModels {
  const known = gatherModels(input)
  const models = known.map((model) => resolveModel(model, input.providers, input.firstSeen))
  const all = withServedVariants(models).toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
  const { names, ambiguous } = indexModels(all)
  return {
    find: (name) => names.get(name),
    sharing: (name) => ambiguous.get(name) ?? [],
    enabled: all.filter(({ disabled }) => disabled === undefined),
    all,
    problems: modelProblems(known, names, input.providers),
  }
}

/** Removes a fast mode whose variant is not enabled. */
function withServedVariants(models: readonly Model[]): Model[] {
  const enabled = new Set(models.filter(({ disabled }) => disabled === undefined).map(({ slug }) => slug))
  return models.map((model) => {
    const { fast, ...slow } = model
    return fast?.strategy === 'model_variant' && !enabled.has(fast.target_slug) ? slow : model
  })
}

/** All models at one moment. A change of the settings or a discovery creates a new list. */
export type Models = {
  /** By slug, alias or unambiguous bare name; includes disabled models. */
  find(name: string): Model | undefined
  /** The models of an ambiguous bare name; empty for any other name. */
  sharing(name: string): readonly Model[]
  /** The enabled models, by slug. */
  readonly enabled: readonly Model[]
  readonly all: readonly Model[]
}

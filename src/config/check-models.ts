import type { ModelFacts } from './model-facts.ts'
import type { SettingsProblem } from './problem.ts'

/** The names that two models of the settings, or one model twice, lay claim to. */
export function checkModels(models: readonly ModelFacts[]): readonly SettingsProblem[] {
  const owners = new Map<string, string>()
  const problems: SettingsProblem[] = []
  const claim = (name: string, path: string) => {
    const owner = owners.get(name)
    if (owner === undefined) owners.set(name, path)
    else
      problems.push({ path, message: `“${name}” is taken by ${owner}; each name must belong to one model.` })
  }
  for (const [index, model] of models.entries()) claim(model.slug, `models[${index}].slug`)
  for (const [index, model] of models.entries())
    for (const [position, alias] of (model.aliases ?? []).entries())
      claim(alias, `models[${index}].aliases[${position}]`)
  return problems
}

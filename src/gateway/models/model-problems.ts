import type { SettingsProblem } from '../../config/problem.ts'
import { ignoredParameterNames, parameters } from '../../domain/generation/parameters.ts'
import { hasResponsesApi } from '../../providers/kinds/responses.ts'
import type { ConfiguredProviders, KnownModel } from './model-sources.ts'
import type { Model } from './model.ts'

/** A model of the settings, with the path that a problem names. */
type DescribedModel = KnownModel & { readonly path: string }

/** The problems of the models in the settings that only the catalog and the providers reveal. */
export function modelProblems(
  known: readonly KnownModel[],
  names: ReadonlyMap<string, Model>,
  providers: ConfiguredProviders,
): SettingsProblem[] {
  const slugs = new Set(known.map(({ facts }) => facts.slug))
  return known.flatMap((model) => {
    const { path } = model
    if (path === undefined) return []
    const described = { ...model, path }
    return [
      ...routeProblems(described, providers),
      ...parameterProblems(described),
      ...aliasProblems(described, names),
      ...variantProblems(described, slugs),
    ]
  })
}

function routeProblems(
  { facts, path, unlistedReason }: DescribedModel,
  { configured, missing }: ConfiguredProviders,
): SettingsProblem[] {
  if (!facts.routes && unlistedReason === undefined)
    return [{ path, message: `must have routes, because ${facts.slug} is not in the built-in catalog.` }]
  return (facts.routes ?? []).flatMap(({ provider, api }, index) => {
    const kind = configured.get(provider)?.kind
    if (api && kind !== undefined && !hasResponsesApi(kind)) {
      return [
        {
          path: `${path}.routes[${index}].api`,
          message: `is not supported by providers of kind ${kind.name}.`,
        },
      ]
    }
    if (kind !== undefined || missing.has(provider)) return []
    return [
      { path: `${path}.routes[${index}].provider`, message: `“${provider}” is not a configured provider.` },
    ]
  })
}

function parameterProblems({ facts, path }: DescribedModel): SettingsProblem[] {
  const known: ReadonlySet<string> = new Set([...parameters, ...ignoredParameterNames])
  return (facts.supported_parameters ?? []).flatMap((parameter, index) => {
    if (known.has(parameter)) return []
    const message = `“${parameter}” is not a known parameter. Known parameters: ${parameters.join(', ')}.`
    return [{ path: `${path}.supported_parameters[${index}]`, message }]
  })
}

function aliasProblems(
  { facts, path }: DescribedModel,
  names: ReadonlyMap<string, Model>,
): SettingsProblem[] {
  return (facts.aliases ?? []).flatMap((alias, index) => {
    const owner = names.get(alias)?.slug
    if (owner === undefined || owner === facts.slug) return []
    return [{ path: `${path}.aliases[${index}]`, message: `“${alias}” is already a name of ${owner}.` }]
  })
}

function variantProblems({ facts, path }: DescribedModel, slugs: ReadonlySet<string>): SettingsProblem[] {
  const target = facts.fast?.strategy === 'model_variant' ? facts.fast.target_slug : undefined
  return [
    ...unknownModel(slugs, target, `${path}.fast.target_slug`),
    ...unknownModel(slugs, facts.variant_of, `${path}.variant_of`),
  ]
}

function unknownModel(slugs: ReadonlySet<string>, slug: string | undefined, path: string): SettingsProblem[] {
  return slug === undefined || slugs.has(slug) ? [] : [{ path, message: `“${slug}” is not a known model.` }]
}

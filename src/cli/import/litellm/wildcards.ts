import type { Route } from '../../../config/model-details.ts'
import { kinds } from '../../../providers/kinds/kinds.ts'
import { noListing } from '../../../providers/model-listing.ts'
import type { Deployment } from './deployment.ts'
import type { Notes } from './notes.ts'
import { escapeText, quoted } from './values.ts'

/** True for an entry of `model_list` that stands for any number of models. */
export function isWildcard({ name, model }: Deployment): boolean {
  return name.includes('*') || model.includes('*')
}

/** Enables the list of models of each provider with a wildcard; notes what is different from LiteLLM. */
export function enableWildcards(wildcards: readonly Deployment[], notes: Notes): void {
  for (const { path, name, model, provider } of wildcards) {
    const { kind } = provider.draft
    const record = kinds[kind]
    const isListed = record !== undefined && 'protocol' in record && record.listing !== noListing
    if (isListed) provider.discover = true
    else
      notes.add(
        path,
        `${quoted(name)}: Weir has no list of the models of ${kind}; add each to models, with its route.`,
      )
    if (name === '*' && kind === 'openai')
      notes.add(path, 'Weir also enables every other provider whose key variable is set in the environment.')
    if (isListed && model !== '*')
      notes.add(path, `${quoted(name)}: Weir enables all models of the provider, not some.`)
  }
}

/** Notes the names by which the models of a wildcard are called, where they differ; providers must have names. */
export function noteWildcardNames(wildcards: readonly Deployment[], notes: Notes): void {
  for (const { path, name, provider } of wildcards)
    if (provider.discover && name !== '*' && name !== `${provider.name}/*`)
      notes.add(path, `${quoted(name)}: the models of this provider are called ${provider.name}/… in Weir.`)
}

/** The route of a name by the longest wildcard that it matches. */
export function wildcardRoute(name: string, wildcards: readonly Deployment[]): Route | undefined {
  const specificFirst = wildcards.toSorted((a, b) => b.name.length - a.name.length)
  for (const { name: pattern, model, provider } of specificFirst) {
    const [before = '', after = ''] = pattern.split('*', 2)
    const matches =
      name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after)
    if (!matches || !pattern.includes('*')) continue
    const part = name.slice(before.length, name.length - after.length)
    const route = { provider: provider.name, model: model.replace('*', () => escapeText(part)) }
    if (route.model !== '') return route
  }
  return undefined
}

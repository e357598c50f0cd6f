import { problemPath, type SettingsProblem } from '../../config/problem.ts'
import { isListed } from '../model-listing.ts'
import type { Provider } from '../provider.ts'
import { withoutEndpoint } from './base-url.ts'

/** Warnings of settings of providers that are accepted and cannot work. */
export function providerWarnings(providers: Iterable<Provider>): SettingsProblem[] {
  return [...providers].flatMap((provider) => {
    const path = problemPath('providers', provider.name)
    return [...baseUrlWarning(provider, `${path}.base_url`), ...discoverWarning(provider, `${path}.discover`)]
  })
}

/** No request to a base URL that ends with an endpoint path can succeed. */
function baseUrlWarning({ kind, baseUrl }: Provider, path: string): SettingsProblem[] {
  const base = 'protocol' in kind ? withoutEndpoint(baseUrl, kind) : baseUrl
  if (base === baseUrl) return []
  return [{ path, message: `ends with an endpoint path, which Weir appends itself. Use ${base}.` }]
}

function discoverWarning(provider: Provider, path: string): SettingsProblem[] {
  if (!provider.discover || isListed(provider)) return []
  const message = `has no effect: kind ${provider.kind.name} has no model list. Name its models under models.`
  return [{ path, message }]
}

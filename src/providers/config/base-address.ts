import type { SettingsProblem } from '../../config/problem.ts'
import { problemPath } from '../../config/problem-path.ts'
import type { Provider, RemoteKind } from '../provider.ts'

/** What is put behind a base, and is often copied into it. */
const endpoints = /\/(chat\/completions|completions|responses|messages|embeddings|models)$/

/** The base without the endpoints at its end, which are put behind it anyway. */
export function withoutEndpoint(baseUrl: string, kind: RemoteKind): string {
  const cut = baseUrl.replace(endpoints, '').replace(endpoints, '')
  // Of some kinds the version is a part of what is put behind the base.
  const versioned = kind.path({ model: 'model', stream: false }, { baseUrl: cut }).startsWith('/v1/')
  return cut !== baseUrl && versioned ? cut.replace(/\/v1$/, '') : cut
}

/** A warning for each provider whose base ends with an endpoint: no request to it can succeed. */
export function baseAddressWarnings(providers: Iterable<Provider>): SettingsProblem[] {
  return [...providers].flatMap(({ name, kind, baseUrl }) => {
    const base = 'protocol' in kind ? withoutEndpoint(baseUrl, kind) : baseUrl
    if (base === baseUrl) return []
    const path = `${problemPath('providers', name)}.base_url`
    return [{ path, message: `ends with an endpoint, and endpoints are put behind it; use ${base}.` }]
  })
}

/**
 * Other bases on the same host at which a provider may answer, the most likely first: without the endpoint at its end,
 * with `/v1` or without it.
 */
export function otherBases(baseUrl: string, kind: RemoteKind): readonly string[] {
  const base = withoutEndpoint(baseUrl, kind)
  const { origin } = new URL(base)
  const plain = base.replace(/(\/v1)+$/, '')
  const bases = [base, `${plain}/v1`, plain, `${origin}/v1`, `${origin}/api/v1`, origin]
  return [...new Set(bases)].filter((other) => other !== baseUrl)
}

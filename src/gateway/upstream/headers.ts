import type { Provider, RemoteKind } from '../../providers/provider.ts'

/** The headers of every request to the provider; the operator's own come last. */
export function upstreamHeaders(
  provider: Provider,
  kind: RemoteKind,
  token?: string,
): Record<string, string> {
  const key = provider.key?.reveal() ?? token
  return {
    'user-agent': 'weir',
    ...kind.headers,
    ...(key === undefined ? {} : kind.authorize(key)),
    ...provider.headers,
  }
}

/** In characters; what is shorter is no secret, and would be found in any sentence. */
const shortestKey = 8

/** The keys that the provider is sent, of the settings or in a header of the operator's. */
export function keysOf({ key, headers }: Provider): readonly string[] {
  const inHeaders = Object.entries(headers)
    .filter(([name]) => /authorization|key|token/i.test(name))
    .map(([, value]) => value.replace(/^bearer +/i, ''))
  const all = key === undefined ? inHeaders : [key.reveal(), ...inHeaders]
  return all.filter(({ length }) => length >= shortestKey)
}

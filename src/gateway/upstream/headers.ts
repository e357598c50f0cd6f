import type { Provider, RemoteKind } from '../../providers/provider.ts'

type RequestHeaders = Readonly<Record<string, string>>

/** The headers by provider, for keys that do not change: with and without streaming. */
const cachedHeaders = new WeakMap<Provider, { buffered?: RequestHeaders; streamed?: RequestHeaders }>()

/** The headers of every request to the provider; the operator's own come last. */
export function upstreamHeaders(
  provider: Provider,
  kind: RemoteKind,
  stream: boolean,
  token?: string,
): RequestHeaders {
  if (token !== undefined) return createHeaders(provider, kind, stream, token)
  const cached = cachedHeaders.get(provider) ?? {}
  cachedHeaders.set(provider, cached)
  return (cached[stream ? 'streamed' : 'buffered'] ??= createHeaders(provider, kind, stream))
}

function createHeaders(
  provider: Provider,
  kind: RemoteKind,
  stream: boolean,
  token?: string,
): RequestHeaders {
  const key = provider.key?.reveal() ?? token
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    'user-agent': 'weir',
    ...kind.headers,
    ...(key === undefined ? {} : kind.authorize(key)),
    ...provider.headers,
  }
}

/** Something shorter is no secret, and would be found in any sentence. */
const minSecretLength = 8

/** The secrets that the provider is sent: its key, and those in configured headers. */
export function secretsOf({ key, headers }: Provider): readonly string[] {
  const inHeaders = Object.entries(headers)
    .filter(([name]) => /authorization|key|token/i.test(name))
    .map(([, value]) => value.replace(/^bearer +/i, ''))
  const all = key === undefined ? inHeaders : [key.reveal(), ...inHeaders]
  return all.filter(({ length }) => length >= minSecretLength)
}

/** The seconds of the headers `retry-after-ms` or `retry-after`; undefined without them. */
export function parseRetryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds / 1000
  const text = headers.get('retry-after') ?? ''
  const seconds = Number.parseFloat(text)
  if (seconds >= 0) return seconds
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}

import type { Generation } from '../../domain/generation/request.ts'
import { type ApiError, tooManyOpenFiles } from '../../lib/errors/errors.ts'
import type { Target } from '../../providers/protocols/protocol.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import { codeOf, upstreamUnavailable, upstreamUnreachable } from './upstream-error.ts'

/** A request to a provider; `headers` of the caller replace none but the defaults of its kind. */
type Post = {
  readonly provider: Provider
  readonly kind: RemoteKind
  readonly target: Target
  readonly body: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal: AbortSignal
}

/** Sends the body to the provider; resolves when the status and headers of the response are received. */
export function post(request: Post): Promise<Response> {
  const { provider, signal } = request
  const { credentials } = provider
  if (provider.key || !credentials) return send(request)
  return credentials.token(signal).then((token) => send(request, token))
}

function send({ provider, kind, target, body, headers, signal }: Post, token?: string): Promise<Response> {
  const own = upstreamHeaders(provider, kind, target.stream, token)
  return fetch(provider.baseUrl + kind.path(target, provider), {
    ...fetchOptions,
    headers: headers === undefined ? own : { ...own, ...withoutOwn(headers, provider, kind) },
    body,
    signal,
  })
}

/** The headers of the caller, without those that the operator has set or the gateway needs. */
function withoutOwn(headers: RequestHeaders, provider: Provider, kind: RemoteKind): RequestHeaders {
  const own = upstreamHeaders(provider, kind, false)
  const configured = Object.keys(provider.headers).map((name) => name.toLowerCase())
  const isFree = (name: string) => kind.headers?.[name] !== undefined || own[name] === undefined
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => isFree(name) && !configured.includes(name)),
  )
}

const fetchOptions = {
  method: 'POST',
  redirect: 'manual',
  // Bun's own timeout of five minutes would cut off a model that reasons; `Deadlines` has the timeouts.
  timeout: false,
} as const

/** The headers of the caller that belong to a request which the provider receives as the caller wrote it. */
export function sourceHeaders({ source }: Generation, { protocol }: RemoteKind): RequestHeaders | undefined {
  return source?.protocol === protocol.name ? source.headers : undefined
}

/** The error for a `fetch` that failed before the provider responded. */
export function connectionError({ name }: Provider, error: unknown): ApiError {
  const code = codeOf(error)
  if (code === 'EMFILE' || code === 'ENFILE') return tooManyOpenFiles(error)
  if (code === 'ECONNRESET')
    return upstreamUnavailable(name, 'the connection was closed before its response began')
  const reason = `the connection failed${code === undefined ? '' : ` (${code})`}`
  return connectionCodes.test(code ?? '')
    ? upstreamUnreachable(name, reason)
    : upstreamUnavailable(name, reason)
}

// Error codes of `fetch`: unknown address, connection refused, TLS failure.
const connectionCodes =
  /^(ECONNREFUSED|E(HOST|NET)UNREACH|ENOTFOUND|EAI_\w+|EPROTO|ERR_TLS_\w+|\w*CERT\w*|UNABLE_TO_\w+)$/

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

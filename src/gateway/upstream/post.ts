import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Target } from '../../providers/protocols/protocol.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { codeOf, upstreamUnavailable, upstreamUnreachable } from './upstream-error.ts'
import { upstreamHeaders } from './headers.ts'

/** A request to a provider; `headers` of the caller never replace those of the provider. */
export type Post = {
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
    headers: headers === undefined ? own : { ...headers, ...own },
    body,
    signal,
  })
}

const fetchOptions = {
  method: 'POST',
  redirect: 'manual',
  // Bun's own timeout of five minutes would cut off a model that reasons; `Deadlines` has the timeouts.
  timeout: false,
} as const

/** The error for a `fetch` that failed before the provider responded. */
export function connectionError({ name }: Provider, error: unknown): ApiError {
  const code = codeOf(error)
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

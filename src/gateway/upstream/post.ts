import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Target } from '../../providers/protocols/protocol.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { codeOf, upstreamUnavailable, upstreamUnreachable } from './upstream-error.ts'
import { upstreamHeaders } from './headers.ts'

/** Sends the body to the provider; resolves when the status and headers of the response are received. */
export function post(
  provider: Provider,
  kind: RemoteKind,
  target: Target,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const { credentials } = provider
  if (provider.key || !credentials) return send(provider, kind, target, body, signal)
  return credentials.token(signal).then((token) => send(provider, kind, target, body, signal, token))
}

function send(
  provider: Provider,
  kind: RemoteKind,
  target: Target,
  body: string,
  signal: AbortSignal,
  token?: string,
): Promise<Response> {
  const headers = upstreamHeaders(provider, kind, target.stream, token)
  return fetch(provider.baseUrl + kind.path(target, provider), { ...fetchOptions, headers, body, signal })
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

import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Target } from '../../providers/wires/wire.ts'
import type { ApiError } from '../../lib/errors.ts'
import { unavailable } from './failure.ts'
import { upstreamHeaders } from './headers.ts'

/** Sends the body to the provider and resolves when the status and headers of the answer are there. */
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
  return fetch(provider.baseUrl + kind.path(target, provider), { ...common, headers, body, signal })
}

const common = {
  method: 'POST',
  redirect: 'manual',
  // Bun's own limit of five minutes would cut a model that thinks; the deadlines here are ours.
  timeout: false,
} as const

/** The error that a caller gets for a provider that could not be reached. */
export function unreachable(provider: Provider, error: unknown): ApiError {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return unavailable(provider.name, `the connection failed${code}`)
}

import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Target } from '../../providers/wires/wire.ts'
import { unavailable } from './failure.ts'
import { upstreamHeaders } from './headers.ts'

/** Sends the body to the provider and resolves when the status and headers of the answer are there. */
export async function post(
  provider: Provider,
  kind: RemoteKind,
  target: Target,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const url = provider.baseUrl + kind.path(target, provider)
  const token = provider.key ? undefined : await provider.credentials?.token(signal)
  try {
    return await fetch(url, {
      method: 'POST',
      headers: upstreamHeaders(provider, kind, target.stream, token),
      body,
      signal,
      redirect: 'manual',
      // Bun's own limit of five minutes would cut a model that thinks; the deadlines here are ours.
      timeout: false,
    } as RequestInit)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw unavailable(provider.name, connectionFailure(error))
  }
}

function connectionFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}

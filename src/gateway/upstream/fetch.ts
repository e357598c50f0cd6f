import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Target } from '../../providers/wires/wire.ts'
import { reachable } from '../../lib/reachable.ts'
import { timedOut, unavailable } from './failure.ts'
import { upstreamHeaders } from './headers.ts'

/** Sends the body to the provider and resolves when the status and headers of the answer are there. */
export async function post(
  provider: Provider,
  kind: RemoteKind,
  target: Target,
  body: string,
  abort: AbortController,
): Promise<Response> {
  const url = provider.baseUrl + kind.path(target, provider)
  const token = provider.key ? undefined : await provider.credentials?.token(abort.signal)
  const probe = setTimeout(() => void checkConnection(url, provider, abort), provider.timeouts.connect / 2)
  try {
    return await fetch(url, {
      method: 'POST',
      headers: upstreamHeaders(provider, kind, target.stream, token),
      body,
      signal: abort.signal,
      redirect: 'manual',
      // Bun's own limit of five minutes would cut a model that thinks; the deadlines here are ours.
      timeout: false,
    } as RequestInit)
  } catch (error) {
    if (abort.signal.aborted) throw abort.signal.reason
    throw unavailable(provider.name, connectionFailure(error))
  } finally {
    clearTimeout(probe)
  }
}

/**
 * `fetch` does not tell when its connection stands. Where no answer has come in half the time, a connection of
 * our own shows within the other half whether the host takes any.
 */
async function checkConnection(url: string, provider: Provider, abort: AbortController): Promise<void> {
  if (await reachable(url, provider.timeouts.connect / 2)) return
  abort.abort(timedOut(provider.name, 'no connection could be made'))
}

function connectionFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}

import type { Settings } from '../../config/settings.ts'
import { parseJson } from '../../lib/json/json.ts'
import { causeOf } from '../../lib/log.ts'
import { directGet } from './direct-get.ts'

/** The result of a probe: null if the gateway is ready, else why not, in a sentence. */
export type Probe = string | null

/** Returns the readiness URL of a server with these settings, as a program on the same machine reaches it. */
export function readinessUrl({ host, port, tls }: Pick<Settings, 'host' | 'port' | 'tls'>): string {
  const address = loopbackOf[host] ?? host
  return `${tls ? 'https' : 'http'}://${address.includes(':') ? `[${address}]` : address}:${port}/readyz`
}

/** A server that listens on every interface is asked on the loopback one. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Requests the URL once, and reports if the response within the timeout is a 200. */
export async function probe(url: string, timeoutMs: number): Promise<Probe> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    // The certificate names the public host of the server, and the probe sends no secret.
    const { status, text } = await directGet(url, { signal, maxBytes, verifyCertificate: false })
    return status === 200 ? null : `The status is ${status}.${reasonOf(text)}`
  } catch (error) {
    if (signal.aborted) return `There was no response within ${timeoutMs} ms.`
    return `The connection failed (${codeOf(error) ?? causeOf(error)}).`
  }
}

/** The code of a network error, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const maxBytes = 4096

/** The message of the error that the gateway sends while it is not ready. */
function reasonOf(body: string): string {
  try {
    const parsed = parseJson(body) as { error?: { message?: unknown } } | null
    const message = parsed?.error?.message
    return typeof message === 'string' ? ` ${message}` : ''
  } catch {
    return ''
  }
}

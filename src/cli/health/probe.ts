import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import type { Settings } from '../../config/settings.ts'
import { parseJson } from '../../lib/json/json.ts'
import { causeOf } from '../../lib/log.ts'

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
    const response = await get(url, signal)
    const body = await readStart(response)
    return response.statusCode === 200 ? null : `The status is ${response.statusCode}.${reasonOf(body)}`
  } catch (error) {
    if (signal.aborted) return `There was no response within ${timeoutMs} ms.`
    return `The connection failed (${codeOf(error) ?? causeOf(error)}).`
  }
}

/** The code of a network error, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Uses no `fetch`, which would send the request to the proxy of the environment. */
function get(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const options = { signal, agent: false }
  // The certificate names the public host of the server, and the probe sends no secret.
  const request = url.startsWith('https:')
    ? getHttps(url, { ...options, rejectUnauthorized: false }, resolve)
    : getHttp(url, options, resolve)
  request.on('error', reject)
  return promise
}

const maxBodyLength = 4096

async function readStart(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) {
    text += String(chunk)
    if (text.length > maxBodyLength) break
  }
  return text
}

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

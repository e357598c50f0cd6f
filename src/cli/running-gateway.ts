import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import type { Settings } from '../config/settings.ts'
import { fieldsOf, parseJson } from '../lib/json/json.ts'
import { CommandError, UsageError } from './errors.ts'

/** Returns the origin that clients on this machine reach; `url` overrides the settings. */
export function originOf(
  { host, port, tls }: Pick<Settings, 'host' | 'port' | 'tls'>,
  url: string | undefined,
): string {
  if (url !== undefined) return parseOrigin(url)
  if (port === 0)
    throw new CommandError(
      'The settings have the port 0, which picks a free one. Pass the address that weir serve printed with --url.',
    )
  const everyInterface = host === '0.0.0.0' || host === '::' || host === '[::]'
  const name = everyInterface ? 'localhost' : host
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  return parseOrigin(`${tls ? 'https' : 'http'}://${bracketed}:${port}`)
}

function parseOrigin(text: string): string {
  const url = URL.parse(text)
  const path = url?.pathname.replace(/\/(v1\/?)?$/, '')
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.search || path !== '')
    throw new UsageError(
      `--url must be an address such as https://weir.example.com, not “${text}”.`,
      'connect',
    )
  return url.origin
}

/** Whether the origin is an address that only this machine reaches. */
export function isLoopback(origin: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(origin).hostname)
}

/** Milliseconds. */
const probeTimeoutMs = 2000
/** Bytes. */
const maxProbeBytes = 1024

/** Whether a gateway serves at the origin. Certificates are not verified, because nothing is sent. */
export async function isServing(origin: string): Promise<boolean> {
  try {
    const { status, text } = await directGet(`${origin}/livez`, {
      signal: AbortSignal.timeout(probeTimeoutMs),
      maxBytes: maxProbeBytes,
      verifyCertificate: false,
    })
    return status === 200 && fieldsOf(parseJson(text)).status === 'ok'
  } catch {
    return false
  }
}

/** Options of `directGet`. */
type DirectGetOptions = {
  readonly signal: AbortSignal
  /** The body is cut after this many bytes or a little more. */
  readonly maxBytes: number
  readonly headers?: Readonly<Record<string, string>>
  /** Rejects a certificate that is not trusted; required if the request contains a secret. */
  readonly verifyCertificate: boolean
}

/** A response; a redirect is not followed. */
type DirectResponse = { readonly status: number; readonly text: string }

/** Requests the URL without the proxy of the environment, which `fetch` would use for a gateway on this machine too. */
export async function directGet(url: string, options: DirectGetOptions): Promise<DirectResponse> {
  const response = await open(url, options)
  const text = await readStart(response, options.maxBytes)
  return { status: response.statusCode ?? 0, text }
}

function open(url: string, { signal, headers, verifyCertificate }: DirectGetOptions) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const options = { signal, agent: false, headers: { ...headers } }
  const request = url.startsWith('https:')
    ? getHttps(url, { ...options, rejectUnauthorized: verifyCertificate }, resolve)
    : getHttp(url, options, resolve)
  request.on('error', reject)
  return promise
}

async function readStart(response: IncomingMessage, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let length = 0
  let text = ''
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    length += chunk.length
    if (length > maxBytes) break
  }
  return text
}

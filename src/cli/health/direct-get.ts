import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'

/** Options of `directGet`. */
export type DirectGetOptions = {
  readonly signal: AbortSignal
  /** The body is cut after this many bytes or a little more. */
  readonly maxBytes: number
  readonly headers?: Readonly<Record<string, string>>
  /** Rejects a certificate that is not trusted; required if the request contains a secret. */
  readonly verifyCertificate: boolean
}

/** A response; a redirect is not followed. */
export type DirectResponse = { readonly status: number; readonly text: string }

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

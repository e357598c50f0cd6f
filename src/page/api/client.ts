import { type SseEvent, SseParser } from '../../lib/sse.ts'
import { ApiFailure, failureOf, isAbort, toFailure } from './failure.ts'

/** Calls the API of this gateway with one key. */
export type ApiClient = {
  /** Gets JSON; throws `ApiFailure`. */
  get<Value>(path: string, options?: RequestOptions): Promise<Value>
  /** Sends a change, with a JSON body if there is one; throws `ApiFailure`. */
  send<Value>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Value>
  /** Sends a request and returns the response once its status is a success, for streams and headers. */
  open(path: string, init: RequestInit): Promise<Response>
}

/** The query of a request; a list is sent as `name[]`, and an undefined value is not sent. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Options of a request; it is aborted after a minute, or by the signal. */
type RequestOptions = { readonly query?: Query; readonly signal?: AbortSignal | undefined }

const timeoutMs = 60_000
/** Characters. A longer reply would stall the page. */
const maxReplyLength = 64 * 1024 * 1024

/** Creates a client. The key is sent in a header only: an address appears in histories and logs. */
export function createApiClient(key: string): ApiClient {
  const open = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${key}`)
    const response = await fetch(path, {
      ...init,
      headers,
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    }).catch(rethrow)
    if (!response.ok) throw await failureOf(response)
    return response
  }
  return {
    open,
    get: (path, options = {}) =>
      json(open(withQuery(path, options.query), { signal: withDeadline(options.signal) })),
    send: (method, path, body) =>
      json(
        open(path, {
          method,
          signal: withDeadline(undefined),
          ...(body !== undefined && {
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          }),
        }),
      ),
  }
}

/** Calls `onEvents` with the events of each piece of a stream, until it ends. The parser bounds an event. */
export async function readEvents(
  response: Response,
  onEvents: (events: readonly SseEvent[]) => void,
): Promise<void> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const parser = new SseParser()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      onEvents(parser.push(part.value))
    onEvents(parser.end())
  } catch (error) {
    throw isAbort(error) ? error : toFailure(error)
  } finally {
    // A stream that is not read to its end must not keep the provider busy.
    await reader.cancel().catch(() => {})
  }
}

/** A path with a query. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    if (Array.isArray(value)) for (const item of value) parameters.append(`${name}[]`, String(item))
    else parameters.append(name, String(value))
  }
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}

function withDeadline(signal: AbortSignal | undefined): AbortSignal {
  const deadline = AbortSignal.timeout(timeoutMs)
  return signal === undefined ? deadline : AbortSignal.any([signal, deadline])
}

async function json<Value>(opened: Promise<Response>): Promise<Value> {
  const response = await opened
  const text = await response.text().catch(rethrow)
  if (text.length > maxReplyLength) throw new ApiFailure('The response is too large to show.')
  try {
    return parseExactJson(text) as Value
  } catch {
    throw new ApiFailure('The response is not JSON. Another server may be in front of the gateway.', {
      status: response.status,
    })
  }
}

/**
 * Parses JSON. A number with more digits than a float has, such as a very large amount of money, becomes its text where
 * the browser passes the source of a value.
 */
function parseExactJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
}

/** Floats have 15 reliable digits. */
const longNumber = /[\d.]{17,}/

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || !/^-?\d+\.\d+$/.test(source)) return value
  return source.replace(/[-.]/g, '').length > 15 ? source : value
}

function rethrow(error: unknown): never {
  if (isAbort(error)) throw error
  throw error instanceof DOMException && error.name === 'TimeoutError'
    ? new ApiFailure('The gateway did not respond in time.')
    : toFailure(error)
}

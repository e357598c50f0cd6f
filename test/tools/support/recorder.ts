import type { Fields } from '../../../src/lib/json/json.ts'

/** A request as the program has sent it. */
export type RecordedRequest = {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Fields | undefined
  /** The status of the response. */
  readonly status: number
}

/** A server between a program and the gateway that records what the program sends. */
export type Recorder = Disposable & {
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Resolves when the head of the next response to a POST request has arrived. */
  nextResponse(): Promise<void>
}

/** Starts one in front of the gateway at this address. */
export function startRecorder(target: string): Recorder {
  const requests: RecordedRequest[] = []
  let next = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const text = await request.text()
      const path = pathname + search
      const body = text === '' ? undefined : text
      const response = await fetch(target + path, { method, headers, body, redirect: 'manual' })
      const parsed = body === undefined ? undefined : (JSON.parse(body) as Fields)
      const { status } = response
      requests.push({ method, path, headers: Object.fromEntries(headers), body: parsed, status })
      if (method === 'POST') {
        next.resolve()
        next = Promise.withResolvers()
      }
      return response
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return { url, requests, nextResponse: () => next.promise, [Symbol.dispose]: () => void server.stop(true) }
}

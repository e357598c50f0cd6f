import { fieldsOf, listOf } from '../../../../src/lib/json/json.ts'

/** A span as a collector gets it. */
export type CollectedSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A collector of traces on loopback. */
export type Collector = AsyncDisposable & {
  /** What an operator sets as the address. */
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Everything that was sent, as text. */
  readonly text: () => string
  readonly requests: readonly { readonly path: string; readonly headers: Headers }[]
}

export function createCollector(status = 200): Collector {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  const requests: { path: string; headers: Headers }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const text = await request.text()
      requests.push({ path: new URL(request.url).pathname, headers: request.headers })
      bodies.push(text)
      if (status === 200) spans.push(...spansIn(JSON.parse(text)))
      return new Response('{}', { status, headers: { 'content-type': 'application/json' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    requests,
    text: () => bodies.join('\n'),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

function spansIn(body: unknown): CollectedSpan[] {
  const scopes = listOf(fieldsOf(body).resourceSpans).flatMap((one) => listOf(fieldsOf(one).scopeSpans))
  const found = scopes.flatMap((scope) => listOf(fieldsOf(scope).spans))
  return found.map((span) => {
    const attributes = listOf(fieldsOf(span).attributes).map((attribute) => {
      const { key, value } = fieldsOf(attribute)
      return [key, Object.values(fieldsOf(value))[0]]
    })
    return { ...fieldsOf(span), attributes: Object.fromEntries(attributes) } as unknown as CollectedSpan
  })
}

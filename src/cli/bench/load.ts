/** A request that is sent again and again. */
export type Call = {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A text at the end of each complete response; the first token is that of an event stream that has one. */
  readonly ending?: string
}

/** A load test: each caller sends a request when its last response is complete. */
export type Load = {
  /** They are sent in turn. */
  readonly calls: readonly Call[]
  readonly callers: number
  readonly durationMs: number
  /** The test ends after this many requests, if not before. */
  readonly maxRequests?: number
}

/** Milliseconds of each request: until the end of the response, and until its first content. */
export type LoadResult = { readonly latencies: number[]; readonly firstTokenLatencies: number[] }

/**
 * Sends requests until the duration is over, but each call at least once. Resolves with the results by call; rejects at the
 * first response that failed or is incomplete.
 */
export async function send({
  calls,
  callers,
  durationMs,
  maxRequests = Number.POSITIVE_INFINITY,
}: Load): Promise<readonly LoadResult[]> {
  const results = calls.map((call) => ({
    call,
    latencies: [] as number[],
    firstTokenLatencies: [] as number[],
  }))
  const endsAt = performance.now() + durationMs
  let sent = 0
  async function sendRequests(): Promise<void> {
    while (sent < calls.length || (sent < maxRequests && performance.now() < endsAt)) {
      const result = results[sent++ % results.length]
      if (result === undefined) return
      const { latency, firstTokenLatency } = await time(result.call)
      result.latencies.push(latency)
      result.firstTokenLatencies.push(firstTokenLatency)
    }
  }
  await Promise.all(Array.from({ length: callers }, sendRequests))
  return results
}

/** In characters; large enough for the last event of a stream. */
const tailLength = 512

/** Throws for a response that failed or broke off: it must not count as a fast one. */
async function time({ url, ending, ...request }: Call) {
  const startedAt = performance.now()
  const response = await fetch(url, request)
  const decoder = new TextDecoder()
  let firstAt: number | undefined
  let tail = ''
  for await (const bytes of response.body ?? []) {
    const text = decoder.decode(bytes, { stream: true })
    // Comments of an event stream are not content.
    if (ending === undefined || text.includes('data:')) firstAt ??= performance.now()
    tail = (tail + text).slice(-tailLength)
  }
  const endedAt = performance.now()
  if (response.status !== 200) throw new Error(`A request failed with status ${response.status}: ${tail}`)
  if (ending !== undefined && !tail.includes(ending))
    throw new Error(`A response ended without ${ending}: ${tail}`)
  return { latency: endedAt - startedAt, firstTokenLatency: (firstAt ?? endedAt) - startedAt }
}

/** Where chat completions are sent: an address, a key and a model. */
export type ChatTarget = { readonly url: string; readonly key: string; readonly model: string }

/** A chat completion without streaming. */
export function plainChat(target: ChatTarget): Call {
  return chat(target, {})
}

/** The same chat completion, streamed. */
export function streamingChat(target: ChatTarget): Call {
  return { ...chat(target, { stream: true }), ending: 'data: [DONE]' }
}

const content = 'How high is the river at the old mill today, and how much has it risen since the rain began?'

function chat({ url, key, model }: ChatTarget, options: object): Call {
  return {
    url: `${url}/v1/chat/completions`,
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    },
    body: JSON.stringify({ model, ...options, messages: [{ role: 'user', content }] }),
  }
}

/** The 50th and the 99th percentile of some values. */
export type Percentiles = { readonly p50: number; readonly p99: number }

/** Computes the percentiles; NaN without values. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).toSorted()
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** The latency of a single caller in milliseconds: directly, through the gateway, and the difference. */
export type AddedLatency = {
  readonly direct: Percentiles
  readonly through: Percentiles
  readonly added: Percentiles
}

/** Compares the latency through the gateway with the direct one. */
export function addedLatency(direct: Percentiles, through: Percentiles): AddedLatency {
  return { direct, through, added: { p50: through.p50 - direct.p50, p99: through.p99 - direct.p99 } }
}

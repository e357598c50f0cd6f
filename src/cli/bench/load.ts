import { type Connection, openConnection, type Reply, requestBytes } from './connection.ts'

/** A load test: one request, sent again and again over some connections. */
export type Load = {
  readonly url: URL
  readonly request: Uint8Array
  /** Each connection sends its next request when the last reply is complete. */
  readonly connections: number
  readonly durationMs: number
  /** The test ends after this many requests, if not before. */
  readonly maxRequests?: number
  /** A text that the last bytes of every reply must contain. */
  readonly ending?: string
}

/** Milliseconds of each request: until the end of the reply, and until its first content. */
export type LoadResult = {
  readonly latencies: readonly number[]
  readonly firstTokenLatencies: readonly number[]
}

/** Sends requests until the duration is over; rejects at the first reply that failed or is incomplete. */
export async function send(load: Load): Promise<LoadResult> {
  const latencies: number[] = []
  const firstTokenLatencies: number[] = []
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => openConnection(load.url)),
  )
  const endsAt = performance.now() + load.durationMs
  let remaining = load.maxRequests ?? Number.POSITIVE_INFINITY

  async function sendRequests(connection: Connection): Promise<void> {
    while (performance.now() < endsAt && remaining-- > 0) {
      const reply = await connection.exchange(load.request)
      assertSuccessful(reply, load.ending)
      latencies.push(reply.endedAt - reply.startedAt)
      firstTokenLatencies.push(reply.firstAt - reply.startedAt)
    }
  }

  try {
    await Promise.all(connections.map(sendRequests))
  } finally {
    for (const connection of connections) connection.close()
  }
  return { latencies, firstTokenLatencies }
}

/** Throws for a reply that failed or broke off: it must not count as a fast one. */
export function assertSuccessful({ status, ending }: Reply, expected = ''): void {
  if (status !== 200) throw new Error(`A request failed with status ${status}: ${ending}`)
  if (!ending.includes(expected)) throw new Error(`A response ended without ${expected}: ${ending}`)
}

/** Where chat completions are sent: an address, a key and a model. */
export type ChatTarget = { readonly url: string; readonly key: string; readonly model: string }

type ChatLoad = Pick<Load, 'url' | 'request' | 'ending'>

/** A chat completion without streaming. */
export function plainChat(target: ChatTarget): ChatLoad {
  return chat(target, {})
}

/** The same chat completion, streamed. */
export function streamingChat(target: ChatTarget): ChatLoad {
  return { ...chat(target, { stream: true }), ending: 'data: [DONE]' }
}

const content = 'How high is the river at the old mill today, and how much has it risen since the rain began?'

function chat({ url: base, key, model }: ChatTarget, options: object): ChatLoad {
  const url = new URL('/v1/chat/completions', base)
  const body = JSON.stringify({ model, ...options, messages: [{ role: 'user', content }] })
  return { url, request: requestBytes(url, { authorization: `Bearer ${key}` }, body) }
}

type Turn = Pick<Load, 'url' | 'request' | 'ending'>
type Bounds = Required<Pick<Load, 'durationMs' | 'maxRequests'>>

/**
 * Sends one request after the other, to each address in turn, until the duration or the number of requests is over.
 * Resolves with the results by address; rejects at the first reply that failed or is incomplete.
 */
export async function sendInTurn(
  turns: readonly Turn[],
  { durationMs, maxRequests }: Bounds,
): Promise<readonly LoadResult[]> {
  const targets = await openTargets(turns)
  const endsAt = performance.now() + durationMs
  try {
    // Every address gets a request, however short the duration is.
    for (let sent = 0; sent < targets.length || (sent < maxRequests && performance.now() < endsAt); sent++) {
      const target = targets[sent % targets.length]
      if (target !== undefined) await sendOne(target)
    }
  } finally {
    for (const { connection } of targets) connection.close()
  }
  return targets
}

type Target = Turn & {
  readonly connection: Connection
  readonly latencies: number[]
  readonly firstTokenLatencies: number[]
}

async function openTargets(turns: readonly Turn[]): Promise<readonly Target[]> {
  const opened = await Promise.allSettled(turns.map(({ url }) => openConnection(url)))
  const failed = opened.find((result) => result.status === 'rejected')
  if (failed === undefined)
    return opened.flatMap((result, index) => {
      const turn = turns[index]
      if (turn === undefined || result.status === 'rejected') return []
      return [{ ...turn, connection: result.value, latencies: [], firstTokenLatencies: [] }]
    })
  for (const result of opened) if (result.status === 'fulfilled') result.value.close()
  throw failed.reason
}

async function sendOne({
  connection,
  request,
  ending,
  latencies,
  firstTokenLatencies,
}: Target): Promise<void> {
  const reply = await connection.exchange(request)
  assertSuccessful(reply, ending)
  latencies.push(reply.endedAt - reply.startedAt)
  firstTokenLatencies.push(reply.firstAt - reply.startedAt)
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

/** Returns the middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted()
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ((lower ?? Number.NaN) + (upper ?? Number.NaN)) / 2
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

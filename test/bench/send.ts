import { type Connection, openConnection, type Reply } from './connection.ts'

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

/** Returns the middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted()
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ((lower ?? Number.NaN) + (upper ?? Number.NaN)) / 2
}

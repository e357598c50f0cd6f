import { type Connection, openConnection } from './connection.ts'
import type { Reply } from './reply.ts'

/** Requests of one kind, and how long they are sent. */
export type Load = {
  readonly url: URL
  readonly request: Uint8Array
  /** Each sends its next request when it has the reply of the last one. */
  readonly connections: number
  /** Milliseconds. */
  readonly duration: number
  /** How many requests are enough. */
  readonly most?: number
  /** What the last bytes of every reply must hold. */
  readonly ending?: string
}

/** Milliseconds for each reply. */
export type Heard = { readonly latencies: readonly number[]; readonly firsts: readonly number[] }

/** Sends requests until the time is over, and rejects at the first reply that is not whole and good. */
export async function send(load: Load): Promise<Heard> {
  const latencies: number[] = []
  const firsts: number[] = []
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => openConnection(load.url)),
  )
  const end = performance.now() + load.duration
  let left = load.most ?? Number.POSITIVE_INFINITY

  async function loop(connection: Connection): Promise<void> {
    while (performance.now() < end && left-- > 0) {
      const reply = await connection.exchange(load.request)
      expectGood(reply, load.ending)
      latencies.push(reply.endedAt - reply.startedAt)
      firsts.push(reply.firstAt - reply.startedAt)
    }
  }

  try {
    await Promise.all(connections.map(loop))
  } finally {
    for (const connection of connections) connection.close()
  }
  return { latencies, firsts }
}

/** A reply that failed or broke off must not count as a fast one. */
export function expectGood({ status, ending }: Reply, expected = ''): void {
  if (status !== 200) throw new Error(`A request got status ${status}: ${ending}`)
  if (!ending.includes(expected)) throw new Error(`A reply ended without ${expected}: ${ending}`)
}

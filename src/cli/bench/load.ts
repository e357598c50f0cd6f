import { type Connection, openConnection, requestBytes } from './connection.ts'
import type { Reply } from './reply.ts'

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

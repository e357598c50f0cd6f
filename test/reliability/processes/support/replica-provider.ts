import { chatOutput, completionOf, framesOf } from '../../../support/chat-fixtures.ts'
import { probeInput } from './limit-probe.ts'
import { senderOf } from './sender.ts'

/** A provider that replies in the form that a request has, mostly well, sometimes late, and sometimes not to the end. */
export type ReplicaProvider = Disposable & {
  readonly url: string
  /** The requests of each background run, by its input. */
  readonly runs: ReadonlyMap<string, readonly Receipt[]>
}

/** A request that was received. */
export type Receipt = {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The id of the process that has sent it; undefined if that has ended by now. */
  readonly process: number | undefined
}

/** What the input of a background run begins with. */
export const runInput = 'Background run'

/** Listens on a free port. */
export function startReplicaProvider(draw: () => number): ReplicaProvider {
  const runs = new Map<string, Receipt[]>()
  const senders = new Map<number, number | undefined>()

  /** A connection is used for many requests, and looked up once. */
  function receive(input: string, port: number): void {
    if (!senders.has(port)) senders.set(port, senderOf(port, server.port ?? 0))
    const receipts = runs.get(input) ?? []
    runs.set(input, [...receipts, { at: Date.now(), process: senders.get(port) }])
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const port = server.requestIP(request)?.port ?? 0
      const { stream = false, messages } = (await request.json()) as ProviderRequest
      const input = JSON.stringify(messages.at(-1))
      const isRun = input.includes(runInput)
      if (isRun) receive(input, port)
      // A probe that gets no completion was lost with its gateway, never for a failure here.
      if (!input.includes(probeInput) && draw() < 0.04)
        return Response.json({ error: { message: 'Down.' } }, { status: 503 })
      // Half of the runs are in progress when a process is killed, and are followed meanwhile.
      const pauseMs = draw() < (isRun ? 0.5 : 0.1) ? draw() * 500 : 0
      return stream ? streamed(pauseMs, draw() < 0.04) : await complete(pauseMs)
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, runs, [Symbol.dispose]: () => void server.stop(true) }
}

type ProviderRequest = { readonly stream?: boolean; readonly messages: readonly object[] }

async function complete(pauseMs: number): Promise<Response> {
  await Bun.sleep(pauseMs)
  return Response.json(completionOf(chatOutput()))
}

function streamed(pauseMs: number, breaks: boolean): Response {
  const frames = framesOf(chatOutput())
  const body = new ReadableStream({
    async pull(controller) {
      const frame = frames.shift()
      if (frame === undefined || (breaks && frames.length === 2)) return controller.close()
      if (pauseMs > 0) await Bun.sleep(pauseMs)
      controller.enqueue(new TextEncoder().encode(frame))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

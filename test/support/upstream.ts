import { createServer, type Socket } from 'node:net'
import { type ReceivedRequest, receiveRequest } from './received-request.ts'
import type { Script } from './script.ts'

/** A provider on loopback that plays the scripts of a test, down to the bytes and the broken connections. */
export type Upstream = {
  /** The address with `/v1` behind it, as a provider's `base_url`. */
  readonly url: string
  /** Every request that was received completely, in order. */
  readonly requests: readonly UpstreamRequest[]
  /** Replaces the scripts: one for each request; the last one is repeated. */
  respondWith(...scripts: readonly Script[]): void
  /** Resolves with the request of this index, once it has arrived. */
  request(number: number): Promise<UpstreamRequest>
  /** Resolves when no connection is open. */
  idle(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type UpstreamRequest = ReceivedRequest & {
  /** Resolves when the connection is closed: true where the gateway closed it before the reply was complete. */
  readonly aborted: Promise<boolean>
}

/** Listens on a free port. Each connection carries one request: none is reused, so that a closed connection means an aborted call. */
export function createUpstream(...scripts: readonly Script[]): Promise<Upstream> {
  return createUpstreamAt(0, ...scripts)
}

/** Listens on the port of an earlier one that was disposed. */
export function restartUpstream({ url }: Upstream, ...scripts: readonly Script[]): Promise<Upstream> {
  return createUpstreamAt(Number(new URL(url).port), ...scripts)
}

async function createUpstreamAt(chosen: number, ...scripts: readonly Script[]): Promise<Upstream> {
  let queue = scripts
  const requests: UpstreamRequest[] = []
  const awaited: (() => void)[] = []
  const open = new Map<Socket, Promise<void>>()

  const server = createServer((socket) => {
    const closed = Promise.withResolvers<void>()
    open.set(socket, closed.promise)
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      closed.resolve()
    })
    void receiveRequest(socket).then((received) => received && take(socket, received, closed.promise))
  })

  function take(socket: Socket, received: ReceivedRequest, closed: Promise<void>): void {
    const script = nextScript()
    const reply = { ended: false }
    requests.push({ ...received, aborted: closed.then(() => !reply.ended) })
    awaited.forEach((wake) => wake())
    void script.play(socket, closed).then((ended) => (reply.ended = ended))
  }

  function nextScript(): Script {
    const [next, ...rest] = queue
    if (!next) throw new Error('The test has no script for this request.')
    if (rest.length > 0) queue = rest
    return next
  }

  async function request(number: number): Promise<UpstreamRequest> {
    for (;;) {
      const found = requests[number]
      if (found) return found
      await new Promise<void>((resolve) => awaited.push(resolve))
    }
  }

  await new Promise<void>((resolve) => server.listen(chosen, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    respondWith: (...scripts) => void (queue = scripts),
    request,
    idle: async () => void (await Promise.all(open.values())),
    async [Symbol.asyncDispose]() {
      for (const socket of open.keys()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

import { createServer, type Socket } from 'node:net'
import { type ReceivedRequest, receiveRequest } from './received-request.ts'
import type { Script } from './script.ts'

/** A provider on loopback that says what a test wrote down for it, down to the bytes and the broken connections. */
export type Upstream = {
  /** The address with `/v1` behind it, as a provider's `base_url`. */
  readonly url: string
  /** Every request that has come in whole, in order. */
  readonly requests: readonly UpstreamRequest[]
  /** From now on these are the answers, one for each request; the last one stays. */
  answer(...scripts: readonly Script[]): void
  /** Resolves with the request of that number, from 0, once it is there. */
  request(number: number): Promise<UpstreamRequest>
  /** Resolves when no connection is open. */
  quiet(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type UpstreamRequest = ReceivedRequest & {
  /** Resolves when the connection is closed: true where the other side did it, before the answer was whole. */
  readonly left: Promise<boolean>
}

/** Listens on a free port. Each connection carries one request: none is reused, so that closing has a meaning. */
export function createUpstream(...scripts: readonly Script[]): Promise<Upstream> {
  return createUpstreamAt(0, ...scripts)
}

/** Listens where another one has been before, by its address. */
export function createUpstreamAgain({ url }: Upstream, ...scripts: readonly Script[]): Promise<Upstream> {
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
    const answer = { ended: false }
    requests.push({ ...received, left: closed.then(() => !answer.ended) })
    awaited.forEach((wake) => wake())
    void script.play(socket, closed).then((ended) => (answer.ended = ended))
  }

  function nextScript(): Script {
    const [next, ...rest] = queue
    if (!next) throw new Error('The test has written no answer for this request.')
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
    answer: (...scripts) => void (queue = scripts),
    request,
    quiet: async () => void (await Promise.all(open.values())),
    async [Symbol.asyncDispose]() {
      for (const socket of open.keys()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

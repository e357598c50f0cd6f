import { createReplyBody, headOf, type Listener, type ReplyBody } from './reply-body.ts'

/** What came back of one request; times are those of `performance.now()`. */
export type Reply = {
  readonly status: number
  readonly startedAt: number
  /** When the first piece of an answer came; comments of an event stream are none. */
  readonly firstAt: number
  readonly endedAt: number
  /** The last bytes of the body. */
  readonly ending: string
}

type Awaited = {
  readonly listen: Listener | undefined
  readonly startedAt: number
  resolve(reply: Reply): void
  reject(error: Error): void
}

/** Reads the replies of one connection, one at a time. */
export function createReplyReader() {
  let awaited: Awaited | undefined
  let pending: Buffer = Buffer.alloc(0)
  let body: ReplyBody | undefined

  function expect(listen?: Listener): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    awaited = { listen, startedAt: performance.now(), resolve, reject }
    return promise
  }

  function push(piece: Buffer): void {
    if (awaited === undefined) return
    if (body !== undefined) return take(awaited, body, piece)
    pending = Buffer.concat([pending, piece])
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0) return
    body = createReplyBody(headOf(pending.toString('latin1', 0, end + 2)), awaited.listen)
    take(awaited, body, pending.subarray(end + 4))
  }

  function take({ startedAt, resolve }: Awaited, body: ReplyBody, piece: Buffer): void {
    const end = body.add(piece)
    if (end === undefined) return
    reset()
    resolve({ startedAt, ...end })
  }

  function reset(): void {
    awaited = body = undefined
    pending = Buffer.alloc(0)
  }

  function fail(error: Error): void {
    const failed = awaited
    reset()
    failed?.reject(error)
  }

  return { expect, push, fail }
}

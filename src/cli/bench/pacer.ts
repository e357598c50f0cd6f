import type { Socket } from 'bun'

/** The chunks of a stream that are sent at intervals. */
export type PacedChunks = {
  readonly chunks: readonly Uint8Array[]
  readonly intervalMs: number
  /** How many streams must be open before the first one starts. */
  readonly minOpenStreams: number
}

type PacedStream = { readonly paced: PacedChunks; sent: number; dueAt: number }

const tickMs = 4
/** After this time the open streams start, even if there are too few. */
const maxWaitMs = 20_000

/** Sends the chunks of many streams, each at its own interval and with a random offset. */
export function createPacer() {
  const open = new Map<Socket<unknown>, PacedStream>()
  const timer = setInterval(tick, tickMs)
  let started = false
  let startsAt = 0

  function join(socket: Socket<unknown>, paced: PacedChunks): void {
    if (open.size === 0) {
      started = false
      startsAt = performance.now() + maxWaitMs
    }
    open.set(socket, { paced, sent: 0, dueAt: performance.now() + Math.random() * paced.intervalMs })
    if (!started && open.size >= paced.minOpenStreams) start()
  }

  function start(): void {
    started = true
    const now = performance.now()
    for (const stream of open.values()) stream.dueAt = now + Math.random() * stream.paced.intervalMs
  }

  function tick(): void {
    const now = performance.now()
    if (!started && open.size > 0 && now > startsAt) start()
    if (!started) return
    for (const [socket, stream] of open) if (stream.dueAt <= now) sendNext(socket, stream)
  }

  function sendNext(socket: Socket<unknown>, stream: PacedStream): void {
    const { chunks, intervalMs } = stream.paced
    const chunk = chunks[stream.sent++]
    stream.dueAt += intervalMs
    if (stream.sent >= chunks.length) open.delete(socket)
    if (chunk) socket.write(chunk)
  }

  return {
    join,
    leave: (socket: Socket<unknown>) => void open.delete(socket),
    stop: () => clearInterval(timer),
  }
}

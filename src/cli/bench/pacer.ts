import type { Socket } from 'bun'

/** The pieces of an answer that come at a pace. */
export type PacedAnswer = {
  readonly pieces: readonly Uint8Array[]
  /** Milliseconds between two of them. */
  readonly interval: number
  /** How many answers must be open before the first of them begins. */
  readonly together: number
}

type Paced = { readonly answer: PacedAnswer; told: number; dueAt: number }

/** Milliseconds between two looks at what is due. */
const step = 4
/** Milliseconds after which those that are open begin, though they are too few. */
const longestWait = 20_000

/** Sends pieces of many answers, each at its pace and not in step with the others. */
export function createPacer() {
  const open = new Map<Socket<unknown>, Paced>()
  const timer = setInterval(tell, step)
  let begun = false
  let beginsAt = 0

  function join(socket: Socket<unknown>, answer: PacedAnswer): void {
    if (open.size === 0) {
      begun = false
      beginsAt = performance.now() + longestWait
    }
    open.set(socket, { answer, told: 0, dueAt: performance.now() + Math.random() * answer.interval })
    if (!begun && open.size >= answer.together) begin()
  }

  function begin(): void {
    begun = true
    const now = performance.now()
    for (const paced of open.values()) paced.dueAt = now + Math.random() * paced.answer.interval
  }

  function tell(): void {
    const now = performance.now()
    if (!begun && open.size > 0 && now > beginsAt) begin()
    if (!begun) return
    for (const [socket, paced] of open) if (paced.dueAt <= now) tellNext(socket, paced)
  }

  function tellNext(socket: Socket<unknown>, paced: Paced): void {
    const { pieces, interval } = paced.answer
    const piece = pieces[paced.told++]
    paced.dueAt += interval
    if (paced.told >= pieces.length) open.delete(socket)
    if (piece) socket.write(piece)
  }

  return {
    join,
    leave: (socket: Socket<unknown>) => void open.delete(socket),
    stop: () => clearInterval(timer),
  }
}

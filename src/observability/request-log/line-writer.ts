import { settleWithin } from '../../lib/time.ts'

/** Writes lines in batches, and never waits for whoever reads them. */
export type LineWriter = {
  write(line: string): void
  /** Resolves once all is written, or after so many milliseconds. */
  flush(milliseconds: number): Promise<void>
  /** How many lines were let go, because their reader was too slow. */
  dropped(): number
}

/** Standard output, or what stands for it in a test. */
export type Sink = { write(text: string, written: () => void): unknown }

/** In characters. A reader that is so far behind is not coming back soon. */
const mostWaiting = 4 * 1024 * 1024

/**
 * The lines of one turn of the event loop are one write, and while that is under way the others wait. Beyond the bound
 * they are dropped; the next batch begins with `missed`, the line that says how many.
 */
export function createLineWriter(
  sink: Sink,
  missed: (lines: number) => string,
  bound = mostWaiting,
): LineWriter {
  const batch = createBatch(missed, bound)
  let scheduled = false
  let writing = false
  let idle = Promise.withResolvers<void>()

  function schedule(): void {
    if (scheduled || writing) return
    scheduled = true
    setImmediate(writeBatch)
  }

  function writeBatch(): void {
    scheduled = false
    if (writing) return
    const text = batch.take()
    if (text === '') {
      idle.resolve()
      idle = Promise.withResolvers()
      return
    }
    writing = true
    sink.write(text, () => {
      writing = false
      writeBatch()
    })
  }

  return {
    write: (line) => batch.add(line) && schedule(),
    async flush(milliseconds) {
      const { promise } = idle
      writeBatch()
      await settleWithin(promise, milliseconds)
    },
    dropped: batch.dropped,
  }
}

/** The lines that wait. */
function createBatch(missed: (lines: number) => string, bound: number) {
  let text = ''
  let dropped = 0
  let untold = 0
  return {
    /** False where there is no room for the line. */
    add(line: string): boolean {
      const room = text.length + line.length <= bound
      if (room) text += `${line}\n`
      else untold++
      return room
    },
    take(): string {
      const taken = untold > 0 ? `${missed(untold)}\n${text}` : text
      text = ''
      dropped += untold
      untold = 0
      return taken
    },
    dropped: () => dropped + untold,
  }
}

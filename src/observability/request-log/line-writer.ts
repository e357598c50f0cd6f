import { settleWithin } from '../../lib/time.ts'

/** Writes lines in batches. `write` never blocks: lines are dropped if the output is not read fast enough. */
export type LineWriter = ReturnType<typeof createLineWriter>

/** Standard output, or its replacement in a test. */
export type Sink = { write(text: string, written: (error?: Error | null) => void): unknown }

/** A reader that is this far behind does not catch up soon. */
const maxPendingCharacters = 4 * 1024 * 1024

/**
 * The lines of one turn of the event loop are one write; lines that arrive during a write wait for the next one. Lines
 * beyond `maxPending` characters are dropped; the next batch begins with `droppedLine`, which says how many.
 */
export function createLineWriter(
  sink: Sink,
  droppedLine: (lines: number) => string,
  maxPending = maxPendingCharacters,
) {
  const batch = createBatch(droppedLine, maxPending)
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
    sink.write(text, (error) => {
      writing = false
      if (error) batch.lose(text)
      writeBatch()
    })
  }

  return {
    write: (line: string) => void (batch.add(line) && schedule()),
    /** Resolves once all lines are written, or after the timeout. */
    async flush(timeoutMs: number): Promise<void> {
      const { promise } = idle
      writeBatch()
      await settleWithin(promise, timeoutMs)
    },
    /** The number of lines that were dropped. */
    dropped: batch.dropped,
  }
}

/** The pending lines. */
function createBatch(droppedLine: (lines: number) => string, maxPending: number) {
  let text = ''
  let dropped = 0
  let unreported = 0
  return {
    /** Returns false if the line was dropped. */
    add(line: string): boolean {
      const fits = text.length + line.length <= maxPending
      if (fits) text += `${line}\n`
      else unreported++
      return fits
    },
    take(): string {
      const batchText = unreported > 0 ? `${droppedLine(unreported)}\n${text}` : text
      text = ''
      dropped += unreported
      unreported = 0
      return batchText
    },
    /** Counts the lines of a batch that could not be written, as on a full disk. */
    lose(batchText: string): void {
      dropped += batchText.split('\n').length - 1
    },
    dropped: () => dropped + unreported,
  }
}

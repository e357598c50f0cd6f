import { type RequestRecord, isRoutineProbe } from '../request-record.ts'
import type { RequestListener } from '../request-tracker.ts'
import type { FailureNotes } from './failure-notes.ts'
import { createLineWriter, type LineWriter, type Sink } from './line-writer.ts'
import { logLine } from './log-line.ts'
import { readableLine } from './readable-line.ts'
import { clockTime, levelLabel } from './terminal-text.ts'

/** Which requests are logged: all, those that failed, or none. */
export type LoggedRequests = 'requests' | 'errors' | 'off'

/** Writes a line for each finished request. */
export type RequestLog = RequestListener & Pick<LineWriter, 'flush' | 'dropped'>

/** The destination and format of request lines. */
export type LogOutput = {
  readonly sink: Sink
  /** True for lines for a terminal, false for JSON lines. */
  readonly readable: boolean
  /** Colours readable lines. */
  readonly color?: boolean
  /** The causes of failures, shown in readable lines. */
  readonly notes?: FailureNotes
}

/** Creates a request log. `logged` is called for each request because settings can change. */
export function createRequestLog(output: LogOutput, logged: () => LoggedRequests): RequestLog {
  const { sink, readable, color, notes } = output
  const writer = createLineWriter(sink, readable ? readableDroppedLine : droppedLine)

  function write(record: RequestRecord): void {
    const now = new Date(record.finishedAt)
    const writeWith = (cause?: string) => writer.write(readableLine(record, { color, cause, now }))
    if (!readable) writer.write(logLine(record, now))
    else if (notes && record.status() >= 500) notes.take(record.id, writeWith)
    else writeWith()
  }

  return {
    finished(record) {
      if (isLogged(record, logged())) write(record)
    },
    async flush(timeoutMs) {
      notes?.flush()
      await writer.flush(timeoutMs)
    },
    dropped: writer.dropped,
  }
}

function isLogged(record: RequestRecord, logged: LoggedRequests): boolean {
  if (logged === 'off') return false
  if (logged === 'requests') return !isRoutineProbe(record)
  return record.errorCode() !== undefined || record.status() >= 400
}

function droppedLine(lines: number): string {
  return JSON.stringify({ time: new Date().toISOString(), message: 'Request log lines were dropped.', lines })
}

function readableDroppedLine(lines: number): string {
  const message = `${lines} request log lines were dropped because the output was not read fast enough.`
  return [clockTime(new Date()), levelLabel('warn'), message].join('  ')
}

import { createLineWriter, type LineWriter, type Sink } from './line-writer.ts'
import type { FailureNotes } from './failure-notes.ts'
import { logLine } from './log-line.ts'
import { readableLine } from './readable-line.ts'
import { clockTime, levelLabel } from './readable-log.ts'
import { uneventful } from '../probes.ts'
import type { RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../requests.ts'

/** Which requests have a line: all, those that failed, or none. */
export type LoggedRequests = 'requests' | 'errors' | 'off'

/** A line for each request that is over. */
export type RequestLog = RequestListener & Pick<LineWriter, 'flush' | 'dropped'>

/** Where the lines go, and whether a person reads them there. */
export type LogOutput = {
  readonly sink: Sink
  readonly readable: boolean
  /** For a person: whether in colour, and what the log has noted of failures. */
  readonly color?: boolean
  readonly notes?: FailureNotes
}

/** `wanted` is asked for each request: settings may change. */
export function createRequestLog(output: LogOutput, wanted: () => LoggedRequests): RequestLog {
  const { sink, readable, color, notes } = output
  const writer = createLineWriter(sink, readable ? readablyMissed : missed)

  function write(record: RequestRecord): void {
    const now = new Date()
    const writeWith = (cause?: string) => writer.write(readableLine(record, { color, cause, now }))
    if (!readable) writer.write(logLine(record, now))
    else if (notes && record.status() >= 500) notes.take(record.id, writeWith)
    else writeWith()
  }

  return {
    over(record) {
      if (isWanted(record, wanted())) write(record)
    },
    async flush(milliseconds) {
      notes?.flush()
      await writer.flush(milliseconds)
    },
    dropped: writer.dropped,
  }
}

function isWanted(record: RequestRecord, wanted: LoggedRequests): boolean {
  if (wanted === 'off') return false
  if (wanted === 'requests') return !uneventful(record)
  return record.error() !== undefined || record.status() >= 400
}

function missed(lines: number): string {
  return JSON.stringify({ time: new Date().toISOString(), message: 'Lines of requests were dropped.', lines })
}

function readablyMissed(lines: number): string {
  const message = `${lines} lines of requests were dropped: they were not read fast enough.`
  return [clockTime(new Date()), levelLabel('warn'), message].join('  ')
}

import { createLineWriter, type LineWriter, type Sink } from './line-writer.ts'
import { logLine } from './log-line.ts'
import { readableLine } from './readable-line.ts'
import { uneventful } from './probes.ts'
import type { RequestRecord } from './request-record.ts'
import type { RequestListener } from './requests.ts'

/** Which requests have a line: all, those that failed, or none. */
export type LoggedRequests = 'requests' | 'errors' | 'off'

/** A line for each request that is over. */
export type RequestLog = RequestListener & Pick<LineWriter, 'flush' | 'dropped'>

/** Where the lines go, and whether a person reads them there. */
export type LogOutput = { readonly sink: Sink; readonly readable: boolean }

/** `wanted` is asked for each request: settings may change. */
export function createRequestLog({ sink, readable }: LogOutput, wanted: () => LoggedRequests): RequestLog {
  const writer = createLineWriter(sink, readable ? readablyMissed : missed)
  const lineOf = readable ? readableLine : logLine
  return {
    over(record) {
      if (isWanted(record, wanted())) writer.write(lineOf(record))
    },
    flush: writer.flush,
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
  return `${lines} lines were dropped: they were not read fast enough.`
}

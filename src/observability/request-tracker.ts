import type { Observer } from '../gateway/observer.ts'
import { causeOf, type Log } from '../lib/log.ts'
import { TransientSet } from '../lib/transient.ts'
import { type RecordListener, RequestRecord } from './request-record.ts'

/** Receives the requests that a tracker follows. */
export type RequestListener = Omit<RecordListener, 'callEnded'> & {
  /** A request has arrived; `openRequests` includes it. */
  started?(openRequests: number): void
  /** True if the listener reads `RequestRecord.traceparent`. */
  readonly wantsTraceparent?: boolean
}

/** Tracks open requests and their calls, and passes finished records to listeners. */
export type RequestTracker = Observer & {
  /** Starts the record of an incoming request. */
  begin(id: string, method: string): RequestRecord
  /** Whether a listener reads `RequestRecord.traceparent`. */
  readonly tracingEnabled: boolean
  open(): InFlight
  /** How many calls have started. */
  calls(): number
  /** The records of the requests whose calls run, except those of background runs. */
  calling(): readonly RequestRecord[]
}

/** How many requests, calls and streams are open. */
export type InFlight = { readonly requests: number; readonly calls: number; readonly streams: number }

/** Creates the tracker. It counts no more than `maxOpen` requests as open: only a leak in the gateway can cause more. */
export function createRequestTracker(
  listeners: readonly RequestListener[],
  log: Log,
  maxOpen = 200_000,
): RequestTracker {
  const open = new TransientSet<RequestRecord>()
  const inFlight = { calls: 0, streams: 0 }
  let calls = 0
  function adjustInFlight({ metadata }: RequestRecord, change: 1 | -1): void {
    inFlight.calls += change
    if (metadata?.stream) inFlight.streams += change
  }

  const recordListener = createRecordListener(listeners, log, {
    callStarted(record) {
      calls++
      adjustInFlight(record, 1)
    },
    callEnded: (record) => adjustInFlight(record, -1),
    finished: (record) => open.delete(record),
  })

  return {
    tracingEnabled: listeners.some(({ wantsTraceparent }) => wantsTraceparent === true),
    begin(id, method) {
      const record = new RequestRecord(id, method, recordListener)
      if (open.size < maxOpen) open.add(record)
      for (const listener of listeners) listener.started?.(open.size)
      return record
    },
    backgroundCall(metadata) {
      const record = new RequestRecord(metadata.id, '', recordListener, true)
      record.callStarted(metadata)
      return record
    },
    calling: () => open.values().filter((record) => record.isCalling()),
    open: () => ({ requests: open.size, ...inFlight }),
    calls: () => calls,
  }
}

function createRecordListener(
  listeners: readonly RequestListener[],
  log: Log,
  tracker: Pick<Required<RecordListener>, 'callStarted' | 'callEnded' | 'finished'>,
): RecordListener {
  const notify = createNotifier(listeners, log)
  const notifyStarted = notify('callStarted')
  const notifyFinished = notify('finished')
  return {
    callStarted(record) {
      tracker.callStarted(record)
      notifyStarted(record)
    },
    queueChanged: notify('queueChanged'),
    firstEvents: notify('firstEvents'),
    callEnded: tracker.callEnded,
    finished(record) {
      if (!record.background) tracker.finished(record)
      notifyFinished(record)
    },
  }
}

type RecordEvent = 'callStarted' | 'queueChanged' | 'firstEvents' | 'finished'

/** Catches what a listener throws: telemetry must not keep a call from being settled or a reply from being sent. */
function createNotifier(listeners: readonly RequestListener[], log: Log) {
  return (event: RecordEvent) => {
    const interested = listeners.filter((listener) => listener[event] !== undefined)
    return (record: RequestRecord): void => {
      for (const listener of interested) {
        try {
          listener[event]?.(record)
        } catch (error) {
          log.error('A request could not be recorded.', { request: record.id, cause: causeOf(error) })
        }
      }
    }
  }
}

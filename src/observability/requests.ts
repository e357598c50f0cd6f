import type { Observer } from '../gateway/observer.ts'
import { causeOf, type Log } from '../lib/log.ts'
import { RequestRecord, type Steps } from './request-record.ts'

/** Hears of requests. */
export type RequestListener = {
  /** One has come; so many are open, with it. */
  begun?(open: number): void
  /** One is over, and nothing more will be known of it. */
  over(record: RequestRecord): void
  /** It wants to know the trace that a request belongs to. */
  readonly traces?: boolean
}

/** All requests that are open, each with what is known of it. */
export type Requests = Observer & {
  /** A request has come. */
  begin(id: string, method: string): RequestRecord
  /** Whether the trace that a request belongs to is of interest. */
  readonly traced: boolean
  open(): InFlight
}

/** How many there are at the moment. */
export type InFlight = { readonly requests: number; readonly calls: number; readonly streams: number }

/**
 * The interface tells of a request and the gateway of its calls; here both come together by its id. Beyond `most`
 * the oldest is forgotten, which nothing but a fault of ours could bring about.
 */
export function createRequests(listeners: readonly RequestListener[], log: Log, most = 200_000): Requests {
  const open = new Map<string, RequestRecord>()
  const inFlight = { calls: 0, streams: 0 }

  const steps: Steps = {
    ended: (record) => count(record, -1),
    over(record) {
      if (!record.background) open.delete(record.id)
      tellAll(listeners, record, log)
    },
  }

  function count({ facts }: RequestRecord, change: 1 | -1): void {
    inFlight.calls += change
    if (facts?.stream) inFlight.streams += change
  }

  return {
    traced: listeners.some(({ traces }) => traces === true),
    begin(id, method) {
      const record = new RequestRecord(id, method, steps)
      if (open.size >= most) forgetOldest(open)
      open.set(id, record)
      for (const listener of listeners) listener.begun?.(open.size)
      return record
    },
    requestSeen: (facts) => open.get(facts.id)?.noted(facts),
    call(facts, booked) {
      const asked = booked ? undefined : open.get(facts.id)
      const record = asked ?? new RequestRecord(facts.id, '', steps, true)
      record.called(facts)
      count(record, 1)
      return record
    },
    open: () => ({ requests: open.size, ...inFlight }),
  }
}

/** A call must be settled, and a reply sent, whatever becomes of what is told about them. */
function tellAll(listeners: readonly RequestListener[], record: RequestRecord, log: Log): void {
  for (const listener of listeners) {
    try {
      listener.over(record)
    } catch (error) {
      log.error('A request could not be told about.', { request: record.id, cause: causeOf(error) })
    }
  }
}

function forgetOldest(open: Map<string, RequestRecord>): void {
  for (const [id] of open.entries().take(1)) open.delete(id)
}

import { serviceUnavailable } from '../lib/errors/errors.ts'
import type { PushStream } from '../lib/push-stream.ts'
import { endEvent, firstTokenEvent, type LiveEvent, startEvent } from './live-event.ts'
import { LiveReader } from './live-reader.ts'
import { type OtherLiveEvents, readOthers, RemoteReaders } from './other-live-requests.ts'
import type { RequestRecord } from './request-record.ts'
import type { RequestListener } from './request-tracker.ts'

/** Passes the events of requests to readers while they happen. */
export type LiveRequests = RequestListener & {
  /**
   * A stream of the events from now on, after the starts of these requests, in all processes that share the port. Throws
   * 503 if there are too many readers.
   */
  subscribe(calling: Iterable<RequestRecord>): PushStream<LiveEvent>
  /** The events of this process since the last call, for a reader of another one: first the starts of these requests. */
  collect(reader: string, calling: Iterable<RequestRecord>): readonly LiveEvent[]
  /** Ends the streams of all readers. */
  close(): void
}

/** The most readers of this process at once. */
const maxReaders = 16
/** The requests in progress that a new reader receives. */
const maxCalling = 500

/** Creates the events; without readers, requests cost nothing more. `others`: absent if no other process shares the port. */
export function createLiveRequests(others?: OtherLiveEvents): LiveRequests {
  const readers = new Set<LiveReader>()
  const remote = new RemoteReaders()
  let own = 0

  function publish(record: RequestRecord, render: (record: RequestRecord) => LiveEvent): void {
    if (readers.size === 0 || record.metadata === undefined) return
    const event = render(record)
    for (const reader of readers) reader.push(event)
  }

  function open(calling: Iterable<RequestRecord>, onClosed: () => void = () => {}): LiveReader {
    const reader: LiveReader = new LiveReader(() => {
      if (readers.delete(reader)) onClosed()
    })
    for (const record of Iterator.from(calling).take(maxCalling))
      if (record.metadata) reader.push(startEvent(record))
    readers.add(reader)
    return reader
  }

  return {
    callStarted: (record) => publish(record, startEvent),
    firstEvents: (record) => publish(record, firstTokenEvent),
    finished: (record) => publish(record, endEvent),
    subscribe(calling) {
      if (own >= maxReaders)
        throw serviceUnavailable('Too many clients are reading the live requests. Close one, and try again.')
      own++
      const reader = open(calling, () => void own--)
      if (others) void readOthers(reader, others)
      return reader
    },
    collect: (reader, calling) => remote.collect(reader, () => open(calling)),
    close() {
      for (const reader of readers) reader.close()
    },
  }
}

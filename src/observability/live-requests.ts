import { serviceUnavailable } from '../lib/errors/errors.ts'
import type { OnItem, PushStream } from '../lib/push-stream.ts'
import { endEvent, firstTokenEvent, type LiveEvent, queueEvent, startEvent } from './live-event.ts'
import type { RequestRecord } from './request-record.ts'
import type { RequestListener } from './request-tracker.ts'

/** Passes the events of requests to readers while they happen. */
export type LiveRequests = RequestListener & {
  /**
   * A stream of the events from now on, after what has happened to these requests, in all processes that share the port.
   * Throws 503 if there are too many readers.
   */
  subscribe(calling: Iterable<RequestRecord>): PushStream<LiveEvent>
  /** The events of this process since the last call, for a reader of another one: first those of these requests. */
  collect(reader: string, calling: Iterable<RequestRecord>): readonly LiveEvent[]
  /** Ends the streams of all readers, and rejects others with 503. */
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
  let closed = false

  function publish(record: RequestRecord, render: (record: RequestRecord) => LiveEvent): void {
    if (readers.size === 0 || record.metadata === undefined) return
    const event = render(record)
    for (const reader of readers) reader.push(event)
  }

  function open(calling: Iterable<RequestRecord>, onClosed: () => void = () => {}): LiveReader {
    const reader: LiveReader = new LiveReader(() => {
      if (readers.delete(reader)) onClosed()
    })
    pushHappened(reader, calling)
    readers.add(reader)
    return reader
  }

  return {
    callStarted: (record) => publish(record, startEvent),
    queueChanged: (record) => publish(record, queueEvent),
    firstEvents: (record) => publish(record, firstTokenEvent),
    finished: (record) => publish(record, endEvent),
    subscribe(calling) {
      // A reader that comes again at once would keep its connection, and the gateway, open.
      if (closed) throw serviceUnavailable('The gateway is shutting down.')
      if (own >= maxReaders)
        throw serviceUnavailable('Too many clients are reading the live requests. Close one, and try again.')
      own++
      const reader = open(calling, () => void own--)
      if (others) void readOthers(reader, others)
      return reader
    },
    collect: (reader, calling) => remote.collect(reader, () => open(calling)),
    close() {
      closed = true
      for (const reader of readers) reader.close()
    },
  }
}

/** What has happened to requests in progress before the reader came. */
function pushHappened(reader: LiveReader, calling: Iterable<RequestRecord>): void {
  for (const record of Iterator.from(calling).take(maxCalling)) {
    if (record.metadata) reader.push(startEvent(record))
    if (record.queuedFor !== undefined) reader.push(queueEvent(record))
    if (record.firstEventsMs !== undefined) reader.push(firstTokenEvent(record))
  }
}

/** The most events that wait for a reader: others are dropped, and counted. */
const maxWaiting = 1000

/** The events that wait for one reader. */
class LiveReader implements PushStream<LiveEvent> {
  readonly #onClosed: () => void
  #waiting: LiveEvent[] = []
  #dropped = 0
  #closed = false
  #wake: () => void = () => {}

  constructor(onClosed: () => void) {
    this.#onClosed = onClosed
  }

  get closed(): boolean {
    return this.#closed
  }

  push(event: LiveEvent): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(event)
    else this.#dropped++
    this.#wake()
  }

  async forEach(onItem: OnItem<LiveEvent>): Promise<void> {
    while (!this.#closed) {
      for (const event of this.take()) await onItem(event)
      if (this.#waiting.length > 0 || this.#closed) continue
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  close(): void {
    this.#closed = true
    this.#onClosed()
    this.#wake()
  }

  /** Returns the waiting events; after them, how many were dropped since. */
  take(): readonly LiveEvent[] {
    const taken = this.#waiting
    if (this.#dropped > 0) taken.push({ type: 'dropped', events: this.#dropped })
    this.#waiting = []
    this.#dropped = 0
    return taken
  }
}

/**
 * Returns the events of the other processes that share the port, since the last call for this reader; in the first one,
 * those of their requests in progress.
 */
export type OtherLiveEvents = (reader: string) => Promise<readonly LiveEvent[]>

/** Between two reads of the events of other processes. */
const intervalMs = 200
/** A reader whose process does not collect its events for this time has left. */
const absenceMs = 10_000
/** The most readers in other processes. */
const maxRemoteReaders = 256

/** Passes the events of the other processes on to a reader, until it is closed. */
async function readOthers(reader: LiveReader, others: OtherLiveEvents): Promise<void> {
  const id = crypto.randomUUID()
  while (!reader.closed) {
    // If the others cannot be asked at the moment, their events wait.
    for (const event of await others(id).catch(() => [])) reader.push(event)
    await Bun.sleep(intervalMs)
  }
}

/** The readers in other processes, which collect their events again and again. */
class RemoteReaders {
  readonly #readers = new Map<string, { readonly reader: LiveReader; readonly absence: Timer }>()

  /** Returns the events that wait for the reader; `open` creates it for the first time. */
  collect(id: string, open: () => LiveReader): readonly LiveEvent[] {
    const known = this.#readers.get(id)
    if (known === undefined && this.#readers.size >= maxRemoteReaders) return []
    const reader = known?.reader ?? open()
    clearTimeout(known?.absence)
    const absence = setTimeout(() => {
      this.#readers.delete(id)
      reader.close()
    }, absenceMs).unref()
    this.#readers.set(id, { reader, absence })
    return reader.take()
  }
}

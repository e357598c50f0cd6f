import { formatUsd } from '../lib/usd.ts'
import { serviceUnavailable } from '../lib/errors/errors.ts'
import type { OnItem, PushStream } from '../lib/push-stream.ts'
import type { RequestRecord } from './request-record.ts'
import type { RequestListener } from './request-tracker.ts'

/** An event of a request to a model. It has nothing of the prompt or the response. */
export type LiveEvent = {
  readonly type: 'start' | 'first_token' | 'end' | 'dropped'
} & Readonly<Record<string, string | number | boolean | null>>

/** Passes the events of requests to readers while they happen. */
export type LiveRequests = RequestListener & {
  /** A stream of the events from now on, after the starts of these requests. Throws 503 if there are too many readers. */
  subscribe(calling: Iterable<RequestRecord>): PushStream<LiveEvent>
  /** Ends the streams of all readers. */
  close(): void
}

/** The most readers at once, and the most events that wait for one: others are dropped, and counted. */
const maxReaders = 16
const maxWaiting = 1000

/** Creates the events; without readers, requests cost nothing more. */
export function createLiveRequests(): LiveRequests {
  const readers = new Set<LiveReader>()

  function publish(record: RequestRecord, render: (record: RequestRecord) => LiveEvent): void {
    if (readers.size === 0 || record.metadata === undefined) return
    const event = render(record)
    for (const reader of readers) reader.push(event)
  }

  return {
    callStarted: (record) => publish(record, startEvent),
    firstEvents: (record) => publish(record, firstTokenEvent),
    finished: (record) => publish(record, endEvent),
    subscribe(calling) {
      if (readers.size >= maxReaders)
        throw serviceUnavailable('Too many clients are reading the live requests. Close one, and try again.')
      const reader: LiveReader = new LiveReader(() => void readers.delete(reader))
      for (const record of calling) if (record.metadata) reader.push(startEvent(record))
      readers.add(reader)
      return reader
    },
    close() {
      for (const reader of readers) reader.close()
    },
  }
}

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

  push(event: LiveEvent): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(event)
    else this.#dropped++
    this.#wake()
  }

  async forEach(onItem: OnItem<LiveEvent>): Promise<void> {
    while (!this.#closed) {
      for (const event of this.#take()) await onItem(event)
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

  /** The waiting events; after them, how many were dropped since. */
  #take(): readonly LiveEvent[] {
    const taken = this.#waiting
    if (this.#dropped > 0) taken.push({ type: 'dropped', events: this.#dropped })
    this.#waiting = []
    this.#dropped = 0
    return taken
  }
}

function startEvent(record: RequestRecord): LiveEvent {
  return {
    type: 'start',
    ...identity(record),
    // A reader that comes later receives the start of a request in progress later.
    elapsed_ms: elapsedMs(record),
    stream: record.metadata?.stream ?? false,
    background: record.background,
  }
}

function firstTokenEvent(record: RequestRecord): LiveEvent {
  return {
    type: 'first_token',
    ...identity(record),
    provider: providerOf(record),
    elapsed_ms: elapsedMs(record),
  }
}

function endEvent(record: RequestRecord): LiveEvent {
  const { outcome } = record
  return {
    type: 'end',
    ...identity(record),
    provider: outcome?.provider ?? providerOf(record),
    elapsed_ms: elapsedMs(record),
    status: record.status(),
    error: record.errorCode() ?? null,
    input_tokens: outcome?.usage?.promptTokens ?? 0,
    output_tokens: outcome?.usage?.completionTokens ?? 0,
    cost_usd: outcome?.cost === undefined ? null : formatUsd(outcome.cost),
  }
}

/** The model as the client named it is not part of it, because it could be any text. */
function identity({ id, metadata }: RequestRecord) {
  return {
    request: id,
    time: new Date().toISOString(),
    organization: metadata?.organization ?? null,
    key: metadata?.key ?? null,
    api: metadata?.api ?? null,
    model: metadata?.model ?? null,
  }
}

function providerOf({ attempts }: RequestRecord): string | null {
  return attempts.at(-1)?.route.provider.name ?? null
}

function elapsedMs({ startedAt }: RequestRecord): number {
  return Math.round(performance.now() - startedAt)
}

import type { FrameSource } from '../../../http/event-stream.ts'
import { ApiError } from '../../../lib/errors/errors.ts'
import type { OnItem, PushStream } from '../../../lib/push-stream.ts'
import { nextTurn } from '../../../lib/time.ts'
import { UnreadableError } from '../../../storage/ports/stored-json.ts'
import { readEvents } from '../events/event-log.ts'
import { step } from '../events/reduce.ts'
import type { RunEvent } from '../events/run-event.ts'
import { initialState, type StreamEvent } from '../events/state.ts'
import { renderFrame, renderFrames } from '../render/render-event.ts'
import type { RenderOptions } from '../render/render-response.ts'
import type { ResponseHead } from '../request/head.ts'
import type { LiveResponse } from './live-response.ts'

/** The stream events of one response as server-sent events. */
export type ResponseEventStream = FrameSource<readonly StreamEvent[]>

/** `after` is the sequence number after which the stream starts; undefined streams all events. */
export type ReplayOptions = { readonly after: number | undefined; readonly render: RenderOptions }

/**
 * Streams the events of a live response, those so far and those to come, at the pace of the reader. `onClose` is called when
 * the stream closes.
 */
export function streamLive(
  live: LiveResponse,
  options: ReplayOptions,
  onClose: () => void,
): ResponseEventStream {
  return toEventStream(live.head, new LiveEvents(live, onClose), options)
}

/**
 * Replays the events of a finished response from its log, at the pace of the reader. Throws `UnreadableError` where the
 * first entry of the log is damaged; the stream fails with that error when it reaches a later damaged entry.
 */
export function replay(
  id: string,
  head: ResponseHead,
  log: string,
  options: ReplayOptions,
): ResponseEventStream {
  const events = storedEvents(`response ${id}`, log)
  const { value: first } = events.next()
  return toEventStream(head, inBatches(first ? [first] : [], events), options)
}

function* storedEvents(what: string, log: string): Generator<RunEvent, void> {
  try {
    yield* readEvents(log)
  } catch {
    throw new UnreadableError(what)
  }
}

function toEventStream(
  head: ResponseHead,
  batches: PushStream<readonly RunEvent[]>,
  { after = -1, render }: ReplayOptions,
): ResponseEventStream {
  const items = streamEvents(head, batches, after)
  return {
    items,
    frames: (events) => renderFrames(events, render),
    end: () => '',
    failed: (error) => renderEndOfKey(error, items.sequence(), render),
  }
}

/** The response goes on without a reader whose key has ended. After any other failure, the reader can try again. */
function renderEndOfKey(error: unknown, sequence: number, render: RenderOptions): string {
  if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return ''
  const { code, type, message, param } = error
  return renderFrame({ type: 'error', failure: { code: code ?? type, message, param }, sequence }, render)
}

/** In characters: a batch of deltas that has as many is passed on. */
const maxBatchCharacters = 64 * 1024

/**
 * Reduces the events for one reader, who has a state of its own. Deltas are passed on in batches. Any other event, which
 * may be large, ends its batch, so that the reader takes it before the next one is made.
 */
function streamEvents(
  head: ResponseHead,
  batches: PushStream<readonly RunEvent[]>,
  after: number,
): PushStream<readonly StreamEvent[]> & { sequence(): number } {
  let state = initialState(head)

  function apply(event: RunEvent): readonly StreamEvent[] {
    const [next, events] = step(state, event)
    state = next
    return events.filter(({ sequence }) => sequence > after)
  }

  async function applyBatch(
    batch: readonly RunEvent[],
    onBatch: OnItem<readonly StreamEvent[]>,
  ): Promise<void> {
    let pending: StreamEvent[] = []
    let characters = 0
    for (const event of batch.values().flatMap(apply)) {
      pending.push(event)
      characters += 'delta' in event ? event.delta.length : maxBatchCharacters
      if (characters < maxBatchCharacters) continue
      await onBatch(pending)
      pending = []
      characters = 0
    }
    if (pending.length > 0) await onBatch(pending)
  }

  return {
    forEach: (onBatch) => batches.forEach((batch) => applyBatch(batch, onBatch)),
    close: () => batches.close(),
    sequence: () => state.sequence,
  }
}

function inBatches(first: readonly RunEvent[], others: Iterable<RunEvent>): PushStream<readonly RunEvent[]> {
  let closed = false
  return {
    async forEach(onBatch) {
      let batch = [...first]
      for (const event of others) {
        batch.push(event)
        if (batch.length < maxBatch) continue
        await onBatch(batch)
        batch = []
        await nextTurn()
        if (closed) return
      }
      await onBatch(batch)
    },
    close: () => void (closed = true),
  }
}

/** The maximum number of events in a batch: the next batch is made when the reader has taken this one. */
const maxBatch = 256

/** The readable events of a live response: those so far, then new ones as they come, until it has ended. */
class LiveEvents implements PushStream<readonly RunEvent[]> {
  readonly #live: LiveResponse
  readonly #onClose: () => void
  #position = 0
  #closed = false
  #wake = () => {}

  constructor(live: LiveResponse, onClose: () => void) {
    this.#live = live
    this.#onClose = onClose
  }

  async forEach(onBatch: OnItem<readonly RunEvent[]>): Promise<void> {
    while (!this.#closed) {
      const { events, readable } = this.#live
      const batch = events.slice(this.#position, Math.min(this.#position + maxBatch, readable))
      this.#position += batch.length
      this.#live.markSeen(this.#position)
      if (batch.length > 0) await onBatch(batch)
      else if (this.#live.finished) return
      else await this.#nextEvent()
    }
  }

  /** Ends the wait for the next event, which may be a long one. */
  close(): void {
    this.#closed = true
    this.#onClose()
    this.#live.removeListener(this.#wake)
    this.#wake()
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#live.onNextEvent(resolve)
    })
  }
}

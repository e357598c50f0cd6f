import type { FrameSource } from '../../../http/event-stream.ts'
import type { OnItem, PushStream } from '../../../lib/push-stream.ts'
import { nextTurn } from '../../../lib/time.ts'
import { UnreadableError } from '../../../storage/ports/stored-json.ts'
import { eventsIn } from '../events/log.ts'
import { step } from '../events/reduce.ts'
import type { RunEvent } from '../events/run-event.ts'
import { initialState } from '../events/state.ts'
import type { StreamEvent } from '../events/stream-event.ts'
import { framesOf } from '../render/frames.ts'
import type { RenderOptions } from '../render/render.ts'
import type { ResponseHead } from '../request/head.ts'
import { LiveEvents, maxBatch } from './live-events.ts'
import type { LiveResponse } from './live-response.ts'

export type ResponseEventStream = Omit<FrameSource<readonly StreamEvent[]>, 'failed'>

/** What a reader gets who follows: events with numbers above `after`, all of them where it is undefined. */
export type ReplayOptions = { readonly after: number | undefined; readonly options: RenderOptions }

/** Everything that has happened to a response that is being made, and what still will, at the pace of the reader. */
export function streamLive(live: LiveResponse, following: ReplayOptions): ResponseEventStream {
  return told(live.head, new LiveEvents(live), following)
}

/**
 * Everything that has happened to a response that is over, as its log has it, at the pace of the reader. Throws
 * `UnreadableError` where the log is damaged from its beginning; elsewhere the stream fails with that when it comes there.
 */
export function replay(
  id: string,
  head: ResponseHead,
  log: string,
  following: ReplayOptions,
): ResponseEventStream {
  const events = storedEvents(`response ${id}`, log)
  const { value: first } = events.next()
  return told(head, inPieces(first ? [first] : [], events), following)
}

function* storedEvents(what: string, log: string): Generator<RunEvent, void> {
  try {
    yield* eventsIn(log)
  } catch {
    throw new UnreadableError(what)
  }
}

function told(
  head: ResponseHead,
  items: PushStream<readonly RunEvent[]>,
  { after = -1, options }: ReplayOptions,
): ResponseEventStream {
  return {
    items: streamEvents(head, items, after),
    frames: (events) => framesOf(events, options),
    end: () => '',
  }
}

/** In characters: deltas with more than so many are not written together with others. */
const maxTogether = 64 * 1024

/**
 * What a reader is told, who has a state of its own: it depends on nothing but what happened. What says much, which is all
 * but the deltas, comes alone, so that the reader takes it before the next one is made.
 */
function streamEvents(
  head: ResponseHead,
  items: PushStream<readonly RunEvent[]>,
  after: number,
): PushStream<readonly StreamEvent[]> {
  let state = initialState(head)

  function toldOf(event: RunEvent): readonly StreamEvent[] {
    const [next, events] = step(state, event)
    state = next
    return events.filter((told) => told.sequence_number > after)
  }

  async function takeAll(batch: readonly RunEvent[], take: OnItem<readonly StreamEvent[]>): Promise<void> {
    let together: StreamEvent[] = []
    let characters = 0
    for (const event of batch.values().flatMap(toldOf)) {
      together.push(event)
      characters += 'delta' in event ? event.delta.length : maxTogether
      if (characters < maxTogether) continue
      await take(together)
      together = []
      characters = 0
    }
    if (together.length > 0) await take(together)
  }

  return { each: (take) => items.each((batch) => takeAll(batch, take)), close: () => items.close() }
}

function inPieces(first: readonly RunEvent[], others: Iterable<RunEvent>): PushStream<readonly RunEvent[]> {
  let closed = false
  return {
    async each(take) {
      let batch = [...first]
      for (const event of others) {
        batch.push(event)
        if (batch.length < maxBatch) continue
        await take(batch)
        batch = []
        await nextTurn()
        if (closed) return
      }
      await take(batch)
    },
    close: () => void (closed = true),
  }
}

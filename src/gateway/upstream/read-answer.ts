import type { GenerationEvent } from '../../generation/events.ts'
import { parseJson } from '../../lib/json.ts'
import { tooDeep } from '../../lib/nesting.ts'
import { createSseParser, type SseEvent } from '../../lib/sse.ts'
import type { StreamParser, Wire } from '../../providers/wires/wire.ts'
import type { Source } from '../../lib/source.ts'
import { readText } from '../../lib/read-text.ts'

/** In bytes. No model says more in one answer. */
const longestAnswer = 64 * 1024 * 1024

/**
 * In characters: the events of which something is remembered until a later one, which are above all the pieces of tool
 * calls. Each takes some hundreds around the few that it says.
 */
const mostHeld = 64 * 1024 * 1024

/** No answer nests so deep; what has fewer characters than these cannot nest so deep that it matters. */
const deepest = 500
const shallow = 10_000

/**
 * The events of an answer, a batch for each piece of the body that completes some. A connection that dies is
 * told like a body that ends: the wire knows whether the answer was whole. `heard` is called when bytes have come.
 */
export function readAnswer(
  response: Response,
  wire: Wire,
  heard: () => void,
): Source<readonly GenerationEvent[]> {
  const streamed = /event-stream/i.test(response.headers.get('content-type') ?? '')
  if (streamed && response.body) return readStream(response.body, wire.stream, heard)
  return readWhole(response, wire, heard)
}

function readWhole(response: Response, wire: Wire, heard: () => void): Source<readonly GenerationEvent[]> {
  let read = false
  return {
    async next() {
      if (read) return undefined
      read = true
      const text = await readText(response, longestAnswer)
      heard()
      if (nestedTooDeeply(text)) return [beyondReading]
      const body = parseJson(text)
      return body === undefined ? [notJson] : wire.parse(body)
    },
    close() {},
  }
}

const notJson: GenerationEvent = {
  type: 'failure',
  complaint: { message: 'The answer is not JSON.', status: 502 },
}

const beyondReading: GenerationEvent = {
  type: 'failure',
  complaint: { message: 'The answer is beyond what can be read.', status: 502 },
}

/** JSON that nests deeper takes seconds to be written, or cannot be written at all. */
function nestedTooDeeply(text: string): boolean {
  return text.length > shallow && tooDeep(text, deepest)
}

function readStream(
  body: ReadableStream<Uint8Array>,
  parser: StreamParser<unknown>,
  heard: () => void,
): Source<readonly GenerationEvent[]> {
  const sse = createSseParser()
  const reader = body.getReader()
  const reading = createReading(parser)

  return {
    async next() {
      while (!reading.over()) {
        let bytes: Uint8Array | null = null
        try {
          bytes = (await reader.read()).value ?? null
        } catch {
          // The connection broke. An abort of ours is told by whoever did it.
        }
        heard()
        const batch = bytes ? reading.take(sse.push(bytes)) : reading.end(sse.end())
        if (batch.length > 0) return batch
      }
      return undefined
    },
    // What is left after the last event, or after a caller who left, is nobody's.
    close: () => void reader.cancel().catch(() => {}),
  }
}

type Batch = readonly GenerationEvent[]

/** Reads the events of a stream with its wire; gives up what no model says and could fill the memory. */
function createReading<State>(parser: StreamParser<State>) {
  let state = parser.initial()
  let over = false
  let held = 0

  function read(event: SseEvent, batch: GenerationEvent[]): void {
    if (nestedTooDeeply(event.data)) return giveUp(batch)
    const step = parser.step(state, event)
    // The same state is one that remembers nothing of the event.
    if (step.state !== state) held += event.data.length
    state = step.state
    batch.push(...step.events)
    if (step.done) over = true
    else if (held > mostHeld) giveUp(batch)
  }

  function giveUp(batch: GenerationEvent[]): void {
    batch.push(beyondReading)
    over = true
  }

  function take(events: readonly SseEvent[]): Batch {
    const batch: GenerationEvent[] = []
    for (const event of events) if (!over) read(event, batch)
    if (over) batch.push(...parser.end(state))
    return batch
  }

  return {
    over: () => over,
    take,
    end(events: readonly SseEvent[]): Batch {
      const batch = take(events)
      if (over) return batch
      over = true
      return [...batch, ...parser.end(state)]
    },
  }
}

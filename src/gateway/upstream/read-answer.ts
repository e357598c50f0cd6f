import type { GenerationEvent } from '../../generation/events.ts'
import { parseJson } from '../../lib/json.ts'
import { createSseParser } from '../../lib/sse.ts'
import type { StreamParser, Wire } from '../../providers/wires/wire.ts'
import type { Source } from '../../lib/source.ts'
import { readText } from '../../lib/read-text.ts'

/** In bytes. No model says more in one answer. */
const longestAnswer = 64 * 1024 * 1024

/**
 * The events of an answer, a batch for each piece of the body that completes some. A connection that dies is
 * told like a body that ends: the wire knows whether the answer was whole. `heard` is called when bytes have come.
 */
export function readAnswer(
  response: Response,
  wire: Wire,
  heard: () => void,
): Source<readonly GenerationEvent[]> {
  const streamed = response.headers.get('content-type')?.includes('event-stream')
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

function readStream(
  body: ReadableStream<Uint8Array>,
  parser: StreamParser<unknown>,
  heard: () => void,
): Source<readonly GenerationEvent[]> {
  const sse = createSseParser()
  const reader = body.getReader()
  let state = parser.initial()
  let ended = false

  /** Null at the end of the body. */
  function take(bytes: Uint8Array | null): readonly GenerationEvent[] {
    const batch: GenerationEvent[] = []
    ended = bytes === null
    for (const event of bytes ? sse.push(bytes) : sse.end()) {
      const step = parser.step(state, event)
      state = step.state
      batch.push(...step.events)
      if (step.done) ended = true
    }
    if (ended) batch.push(...parser.end(state))
    return batch
  }

  return {
    async next() {
      while (!ended) {
        let bytes: Uint8Array | null = null
        try {
          bytes = (await reader.read()).value ?? null
        } catch {
          // The connection broke. An abort of ours is told by whoever did it.
        }
        heard()
        const batch = take(bytes)
        if (batch.length > 0) return batch
      }
      return undefined
    },
    // What is left after the last event, or after a caller who left, is nobody's.
    close: () => void reader.cancel().catch(() => {}),
  }
}

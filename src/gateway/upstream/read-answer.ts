import type { GenerationEvent } from '../../generation/events.ts'
import { parseJson } from '../../lib/json.ts'
import { createSseParser } from '../../lib/sse.ts'
import type { StreamParser, Wire } from '../../providers/wires/wire.ts'
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
): AsyncGenerator<readonly GenerationEvent[]> {
  const streamed = response.headers.get('content-type')?.includes('event-stream')
  if (streamed && response.body) return readStream(response.body, wire.stream, heard)
  return readWhole(response, wire, heard)
}

async function* readWhole(
  response: Response,
  wire: Wire,
  heard: () => void,
): AsyncGenerator<readonly GenerationEvent[]> {
  const text = await readText(response, longestAnswer)
  heard()
  const body = parseJson(text)
  yield body === undefined ? [notJson] : wire.parse(body)
}

const notJson: GenerationEvent = {
  type: 'failure',
  complaint: { message: 'The answer is not JSON.', status: 502 },
}

async function* readStream(
  body: ReadableStream<Uint8Array>,
  parser: StreamParser<unknown>,
  heard: () => void,
): AsyncGenerator<readonly GenerationEvent[]> {
  const sse = createSseParser()
  const reader = body.getReader()
  let state = parser.initial()
  try {
    for (let ended = false; !ended;) {
      const bytes = await nextBytes(reader)
      heard()
      const batch: GenerationEvent[] = []
      ended = bytes === null
      for (const event of bytes ? sse.push(bytes) : sse.end()) {
        const step = parser.step(state, event)
        state = step.state
        batch.push(...step.events)
        if (step.done) ended = true
      }
      if (ended) batch.push(...parser.end(state))
      if (batch.length > 0) yield batch
    }
  } finally {
    // What is left after the last event, or after a caller who left, is nobody's.
    reader.cancel().catch(() => {})
  }
}

/** Null at the end, and where the connection broke. An abort of ours goes on as the error that it is. */
async function nextBytes(reader: Reader): Promise<Uint8Array | null> {
  try {
    const { value } = await reader.read()
    return value ?? null
  } catch {
    return null
  }
}

type Reader = { read(): Promise<{ readonly value?: Uint8Array | undefined }> }

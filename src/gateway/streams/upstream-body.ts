import {
  type ProviderError,
  endedEarly,
  invalidData,
  tooLarge,
} from '../../domain/generation/provider-error.ts'
import type { GenerationEvent } from '../../domain/generation/events.ts'
import { parseJson } from '../../lib/json/json.ts'
import { tooDeep } from '../../lib/validation/nesting.ts'
import { createSseParser, type SseEvent } from '../../lib/sse.ts'
import type { StreamParser, Protocol } from '../../providers/protocols/protocol.ts'
import { readText } from '../../lib/read-text.ts'
import { readFailure } from '../upstream/upstream-error.ts'

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

type Batch = readonly GenerationEvent[]

/** A part of a body: all of it as text, or some bytes of a stream; undefined where nothing more comes. */
export type Piece = string | Uint8Array | undefined

/** The body of an answer. Whoever has it reads a piece and takes what it says, until it is over. */
export type UpstreamBody = {
  finished(): boolean
  read(): Promise<Piece>
  /** The events that the piece completes. The wire knows whether the answer was whole when there is none. */
  take(piece: Piece): Batch
  close(): void
}

/** The body of what the provider answered, by what its headers say that it is. */
export function upstreamBody(response: Response, wire: Protocol): UpstreamBody {
  const streamed = /event-stream/i.test(response.headers.get('content-type') ?? '')
  if (streamed && response.body) return new StreamedBody(response.body, wire.stream)
  return new WholeBody(response, wire)
}

class WholeBody implements UpstreamBody {
  readonly #response: Response
  readonly #wire: Protocol
  #over = false

  constructor(response: Response, wire: Protocol) {
    this.#response = response
    this.#wire = wire
  }

  finished(): boolean {
    return this.#over
  }

  read(): Promise<string> {
    return readText(this.#response, longestAnswer)
  }

  take(piece: Piece): Batch {
    this.#over = true
    if (typeof piece !== 'string') return []
    if (nestedTooDeeply(piece)) return [beyondReading]
    const body = parseJson(piece)
    return body === undefined ? [notJson] : this.#wire.parse(body)
  }

  close(): void {}
}

const notJson: GenerationEvent = {
  type: 'failure',
  complaint: { message: 'its response is not valid JSON', detected: true },
}

const beyondReading: GenerationEvent = { type: 'failure', complaint: tooLarge }

/** JSON that nests deeper takes seconds to be written, or cannot be written at all. */
function nestedTooDeeply(text: string): boolean {
  return text.length > shallow && tooDeep(text, deepest)
}

/** Bun's own type of it has more methods than that of the platform. */
type Reader = {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/**
 * Gives up what no model says and could fill the memory. All that a chunk needs is in few objects: among thousands of
 * streams each is cold when its chunk comes, and to fetch it from memory takes longer than to work with it.
 */
class StreamedBody<State> implements UpstreamBody {
  readonly #reader: Reader
  readonly #sse = createSseParser()
  readonly #parser: StreamParser<State>
  #state: State
  #over = false
  #broken: ProviderError | undefined
  #held = 0

  constructor(body: ReadableStream<Uint8Array>, parser: StreamParser<State>) {
    this.#reader = body.getReader()
    this.#parser = parser
    this.#state = parser.initial()
  }

  finished(): boolean {
    return this.#over
  }

  /** What was said before the connection broke counts; an abort of ours is told by whoever did it. */
  read(): Promise<Piece> {
    return this.#reader.read().then(bytesOf, this.#brokeOff)
  }

  readonly #brokeOff = (error: unknown): undefined => {
    this.#broken = readFailure(error)
  }

  take(piece: Piece): Batch {
    if (piece instanceof Uint8Array) return this.#take(this.#sse.push(piece))
    const batch = this.#take(this.#sse.end())
    const last = this.#over ? [] : this.#parser.end(this.#state)
    this.#over = true
    return [...batch, ...last].map((event) => this.#atTheEnd(event))
  }

  /** An event that was cut off is not invalid, and an end without a last word is none where the reading has failed. */
  #atTheEnd(event: GenerationEvent): GenerationEvent {
    if (event.type !== 'failure') return event
    const { complaint } = event
    const cutOff = complaint === endedEarly || complaint === invalidData
    return cutOff ? { type: 'failure', complaint: this.#broken ?? endedEarly } : event
  }

  close(): void {
    // What is left after the last event, or after a caller who left, is nobody's.
    this.#reader.cancel().catch(() => {})
  }

  #take(events: readonly SseEvent[]): Batch {
    const batch: GenerationEvent[] = []
    for (const event of events) if (!this.#over) this.#read(event, batch)
    if (this.#over) batch.push(...this.#parser.end(this.#state))
    return batch
  }

  #read(event: SseEvent, batch: GenerationEvent[]): void {
    if (nestedTooDeeply(event.data)) return this.#giveUp(batch)
    const step = this.#parser.step(this.#state, event)
    // The same state is one that remembers nothing of the event.
    if (step.state !== this.#state) this.#held += event.data.length
    this.#state = step.state
    batch.push(...step.events)
    if (step.done) this.#over = true
    else if (this.#held > mostHeld) this.#giveUp(batch)
  }

  #giveUp(batch: GenerationEvent[]): void {
    batch.push(beyondReading)
    this.#over = true
  }
}

function bytesOf({ value }: { readonly value?: Uint8Array | undefined }): Piece {
  return value
}

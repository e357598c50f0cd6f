import {
  detectedError,
  endedEarly,
  type GenerationEvent,
  invalidData,
  type ProviderError,
  tooLarge,
} from '../../domain/generation/events.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { parseJson } from '../../lib/json/json.ts'
import { LongJson, LongValueError, maxValueLength } from '../../lib/json/long-json.ts'
import { readText } from '../../lib/read-text.ts'
import { type SseEvent, SseParser } from '../../lib/sse.ts'
import { nextTurn, ownTurn } from '../../lib/time.ts'
import { isTooDeep } from '../../lib/validation/json-bounds.ts'
import { formatOf, toEmbedding } from '../../providers/protocols/embeddings.ts'
import { failure } from '../../providers/protocols/parsing.ts'
import type { Protocol, StreamParser } from '../../providers/protocols/protocol.ts'
import { readFailure } from './upstream-error.ts'

/** No model's answer is longer. */
const maxBodyBytes = 64 * 1024 * 1024
/** 2,048 embeddings of 4,096 numbers take about as much, and one of 65,536 numbers a hundredth. */
const maxEmbeddingsBytes = 192 * 1024 * 1024

/** Characters. Longer responses with embeddings are parsed in steps. */
const minLongEmbeddings = 256 * 1024

/**
 * Bounds the events that a parser remembers until a later one, mostly the fragments of tool calls. Each of
 * them takes some hundred bytes around its few characters.
 */
const maxHeldCharacters = 64 * 1024 * 1024

/** No response nests deeper; shorter text cannot nest so deeply that it matters. */
const maxDepth = 500
const minDeepLength = 10_000

/** After these bytes of a stream, other requests have their turn: those that have arrived already are read in one. */
const bytesOfTurn = 256 * 1024

type Batch = readonly GenerationEvent[]

/** A chunk of a body: all of it as text, or some bytes of a stream; undefined at the end. */
export type BodyChunk = string | Uint8Array | undefined

/** The body of a response. Its reader alternates `read` and `parse` until it is finished. */
export type UpstreamBody = {
  finished(): boolean
  read(): Promise<BodyChunk>
  /**
   * The events that the chunk completes. At the end, the protocol decides whether the response was complete.
   */
  parse(chunk: BodyChunk): Batch
  close(): void
}

/** The request that a response answers; `holdMemory` is called before the bytes of embeddings are read. */
type AnsweredRequest = {
  readonly generation: Generation
  readonly holdMemory?: ((bytes: number) => void) | undefined
}

/** Creates the body of the response: a stream of server-sent events or JSON, by its content type. */
export function upstreamBody(response: Response, request: AnsweredRequest, protocol: Protocol): UpstreamBody {
  const streamed = /event-stream/i.test(response.headers.get('content-type') ?? '')
  if (streamed && response.body) return new SseBody(response.body, protocol.stream)
  return new JsonBody(response, request, protocol)
}

/** Complete JSON. A long one with embeddings is read in steps: further chunks without text are the turns for them. */
class JsonBody implements UpstreamBody {
  readonly #response: Response
  readonly #request: AnsweredRequest
  readonly #protocol: Protocol
  #finished = false
  #embeddings: LongJson | undefined

  constructor(response: Response, request: AnsweredRequest, protocol: Protocol) {
    this.#response = response
    this.#request = request
    this.#protocol = protocol
  }

  finished(): boolean {
    return this.#finished
  }

  read(): Promise<BodyChunk> {
    if (this.#embeddings) return ownTurn().then(noChunk)
    const { generation, holdMemory } = this.#request
    // A short request can cause long embeddings; other answers are bounded by their tokens.
    return generation.operation === 'embedding'
      ? readText(this.#response, maxBytesOf(generation), holdMemory)
      : readText(this.#response, maxBodyBytes)
  }

  parse(chunk: BodyChunk): Batch {
    if (this.#embeddings) return this.#step(this.#embeddings)
    const text = typeof chunk === 'string' ? chunk : ''
    const { embeddingName } = this.#protocol
    if (embeddingName !== undefined && text.length >= minLongEmbeddings) {
      this.#embeddings = new LongJson(text, embeddingName, this.#readEmbedding)
      return []
    }
    return nestsTooDeeply(text) ? this.#end(tooLargeEvent) : this.#parseBody(parseJson(text))
  }

  #step(embeddings: LongJson): Batch {
    try {
      return embeddings.step() ? [] : this.#parseBody(embeddings.parseRest(maxDepth))
    } catch (error) {
      if (error instanceof LongValueError) return this.#end(tooLargeEvent)
      throw error
    }
  }

  readonly #readEmbedding = (value: unknown, json: string): unknown => {
    const { generation, holdMemory } = this.#request
    const embedding = toEmbedding(value, formatOf(generation), json)
    // Otherwise it is a part of the text.
    if (embedding && embedding.json !== json) holdMemory?.(embedding.json.length)
    return embedding
  }

  #parseBody(body: unknown): Batch {
    if (body === undefined) return this.#end(invalidJsonEvent)
    this.#finished = true
    return this.#protocol.parse(body, this.#request.generation)
  }

  #end(event: GenerationEvent): Batch {
    this.#finished = true
    return [event]
  }

  close(): void {}
}

function noChunk(): undefined {}

function maxBytesOf({ inputs = [] }: Generation): number {
  return Math.min((inputs.length + 1) * maxValueLength, maxEmbeddingsBytes)
}

const invalidJsonEvent = failure(detectedError('its response is not valid JSON'))
const tooLargeEvent = failure(tooLarge)

/** JSON that nests deeper takes seconds to serialize, or cannot be serialized at all. */
function nestsTooDeeply(text: string): boolean {
  return text.length > minDeepLength && isTooDeep(text, maxDepth)
}

/** Bun's type has more methods than that of the platform. */
type Reader = {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/**
 * A stream of server-sent events, which fails on input that no model sends and that could fill the memory.
 * All that a chunk needs is in few objects: among thousands of streams each is cold when its chunk comes, and
 * fetching it from memory takes longer than processing it.
 */
class SseBody<State> implements UpstreamBody {
  readonly #reader: Reader
  readonly #sse = new SseParser()
  readonly #parser: StreamParser<State>
  #state: State
  #finished = false
  #readError: ProviderError | undefined
  #heldCharacters = 0
  #bytesInTurn = 0

  constructor(body: ReadableStream<Uint8Array>, parser: StreamParser<State>) {
    this.#reader = body.getReader()
    this.#parser = parser
    this.#state = parser.initial()
  }

  finished(): boolean {
    return this.#finished
  }

  /** Events from before the connection broke count; an abort is reported by its owner. */
  read(): Promise<BodyChunk> {
    if (this.#bytesInTurn < bytesOfTurn) return this.#reader.read().then(valueOf, this.#onReadError)
    this.#bytesInTurn = 0
    return nextTurn().then(() => this.read())
  }

  readonly #onReadError = (error: unknown): undefined => {
    this.#readError = readFailure(error)
  }

  parse(chunk: BodyChunk): Batch {
    if (chunk instanceof Uint8Array) {
      this.#bytesInTurn += chunk.length
      return this.#parseEvents(this.#sse.push(chunk))
    }
    const batch = this.#parseEvents(this.#sse.end())
    const final = this.#finished ? [] : this.#parser.end(this.#state)
    this.#finished = true
    return [...batch, ...final].map((event) => this.#atEnd(event))
  }

  /**
   * A truncated event is not invalid, and a missing final event is not an early end if the read has failed.
   */
  #atEnd(event: GenerationEvent): GenerationEvent {
    if (event.type !== 'failure') return event
    const { error } = event
    const cutOff = error === endedEarly || error === invalidData
    return cutOff ? failure(this.#readError ?? endedEarly) : event
  }

  close(): void {
    // The rest after the last event, or after a caller has left, is discarded.
    this.#reader.cancel().catch(() => {})
  }

  #parseEvents(events: readonly SseEvent[]): Batch {
    const batch: GenerationEvent[] = []
    for (const event of events) if (!this.#finished) this.#parseEvent(event, batch)
    if (this.#finished) batch.push(...this.#parser.end(this.#state))
    return batch
  }

  #parseEvent(event: SseEvent, batch: GenerationEvent[]): void {
    if (nestsTooDeeply(event.data)) return this.#fail(batch)
    const step = this.#parser.step(this.#state, event)
    // An unchanged state remembers nothing of the event.
    if (step.state !== this.#state) this.#heldCharacters += event.data.length
    this.#state = step.state
    // A loop: to spread a list of one event takes longer than to parse it.
    for (const parsed of step.events) batch.push(parsed)
    if (step.done) this.#finished = true
    else if (this.#heldCharacters > maxHeldCharacters) this.#fail(batch)
  }

  #fail(batch: GenerationEvent[]): void {
    batch.push(tooLargeEvent)
    this.#finished = true
  }
}

function valueOf({ value }: { readonly value?: Uint8Array | undefined }): BodyChunk {
  return value
}

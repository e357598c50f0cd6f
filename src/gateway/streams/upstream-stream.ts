import { AnswerLimits, ExcessiveAnswerError } from '../../domain/generation/answer.ts'
import { type GenerationEvent, isOutput } from '../../domain/generation/events.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { type AbortLike, abortReason } from '../../lib/abort.ts'
import { ApiError, internalError } from '../../lib/errors/errors.ts'
import type { OnItem, OpenableStream } from '../../lib/push-stream.ts'
import { TooLongError } from '../../lib/read-text.ts'
import { nextTurn, type Stopwatch } from '../../lib/time.ts'
import type { Target } from '../../providers/protocols/protocol.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import { minLargeBody } from '../rate-limits/large-bodies.ts'
import { Deadlines, type FirstTokenTimeout } from './deadlines.ts'
import { providerFailure, readErrorResponse } from './provider-failure.ts'
import { type BodyChunk, upstreamBody, type UpstreamBody } from './upstream-body.ts'
import { responseCut } from './upstream-error.ts'
import { withoutAttribution } from './attribution.ts'
import { connectionError, post, sourceHeaders } from './upstream-request.ts'

type Batch = readonly GenerationEvent[]

/** The response of a provider on the network. The request is sent when its first batch is awaited. */
export class UpstreamStream implements OpenableStream<Batch> {
  readonly #request: UpstreamRequest
  readonly #kind: RemoteKind
  readonly #stopwatch: Stopwatch | undefined
  readonly #abort = new AbortController()
  readonly #deadlines: Deadlines
  readonly #limits = new AnswerLimits()
  #body: UpstreamBody | undefined
  #failure: unknown
  #closed = false

  constructor(request: UpstreamRequest, kind: RemoteKind) {
    this.#request = request
    this.#kind = kind
    this.#stopwatch = request.stopwatch
    this.#deadlines = new Deadlines(request.provider, this.#abort, request.firstToken)
    if (request.signal.aborted) this.#onAbort()
    else request.signal.addEventListener('abort', this.#onAbort)
  }

  /** Where the first token has a timeout, the events up to the first token. */
  async first(): Promise<Batch | undefined> {
    const payload = this.#renderBody()
    try {
      // `fetch` encodes the text at once: for a large one, other requests run first.
      if (payload.length >= minLargeBody) await nextTurn()
      this.#stopwatch?.start()
      const response = await this.#post(payload)
      this.#deadlines.responseReceived()
      if (!response.ok) throw await readErrorResponse(response, this.#kind.protocol, this.#request)
      this.#request.onAccepted?.()
      const body = (this.#body = upstreamBody(response, this.#request, this.#kind.protocol))
      if (this.#closed) body.close()
      let before: Batch | undefined
      while (this.#hasMore(body)) {
        const batch = this.#parseChunk(body, await this.#readChunk(body))
        if (batch.length === 0) continue
        if (!this.#deadlines.awaitsToken()) return batch
        before = [...(before ?? []), ...batch]
        if (!batch.some(isOutput)) continue
        this.#deadlines.tokenReceived()
        break
      }
      return before
    } catch (error) {
      return this.#rethrow(error)
    }
  }

  hasMore(): boolean {
    return !this.#closed && (this.#failure !== undefined || this.#body?.finished() === false)
  }

  forEach(onBatch: OnItem<Batch>): Promise<void> {
    const body = this.#body
    if (body !== undefined && this.hasMore()) return this.#readOn(body, onBatch)
    if (!this.#closed) this.#release()
    return Promise.resolve()
  }

  /** One loop from the socket to the consumer. */
  async #readOn(body: UpstreamBody, onBatch: OnItem<Batch>): Promise<void> {
    let delivering = false
    try {
      while (this.#hasMore(body)) {
        const batch = this.#parseChunk(body, await this.#readChunk(body))
        if (batch.length === 0) continue
        delivering = true
        const pending = onBatch(batch)
        if (pending) await pending
        delivering = false
      }
    } catch (error) {
      // The consumer has failed, not the provider; the consumer closes the stream.
      if (delivering) throw error
      this.#rethrow(error)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#release()
    this.#abort.abort()
  }

  readonly #onAbort = (): void => this.#abort.abort(abortReason(this.#request.signal))

  /** After the last event of a response there is no call left to abort. */
  #release(): void {
    this.#closed = true
    this.#stopwatch?.stop()
    this.#deadlines.stop()
    this.#request.signal.removeEventListener('abort', this.#onAbort)
    this.#body?.close()
  }

  /** Whether there is more to read. The failure after the last events is thrown once those were delivered. */
  #hasMore(body: UpstreamBody): boolean {
    if (this.#closed) return false
    if (this.#failure) throw this.#failure
    if (body.finished()) this.#release()
    return !this.#closed
  }

  /** The time of the provider runs from now on, and not while the caller is slow to read. */
  #readChunk(body: UpstreamBody): Promise<BodyChunk> {
    this.#stopwatch?.start()
    this.#deadlines.waitStarted()
    return body.read()
  }

  /** The events of the chunk; those of a closed call are discarded. */
  #parseChunk(body: UpstreamBody, chunk: BodyChunk): Batch {
    if (this.#closed) return []
    this.#stopwatch?.stop()
    const batch = this.#parse(body, chunk)
    if (batch.length === 0) return batch
    this.#deadlines.eventsReceived()
    const failure = batch.find(isFailure)
    return failure === undefined ? batch : this.#splitAtFailure(failure, batch)
  }

  /** An event that is too long, or too many of them, are the provider's fault; any other exception is the gateway's own. */
  #parse(body: UpstreamBody, chunk: BodyChunk): Batch {
    try {
      const batch = body.parse(chunk)
      this.#limits.add(batch)
      return batch
    } catch (error) {
      const isOfProvider = error instanceof TooLongError || error instanceof ExcessiveAnswerError
      throw isOfProvider ? error : toInternalError(error)
    }
  }

  #splitAtFailure(failure: FailureEvent, batch: Batch): Batch {
    const { aborted, reason } = this.#abort.signal
    // If the gateway ended the response, that is why it failed.
    this.#failure = aborted ? reason : providerFailure(failure.error, this.#request)
    const before = batch.slice(0, batch.indexOf(failure))
    if (before.length === 0) throw this.#failure
    return before
  }

  /** Closes the call and throws its failure, unless it was closed before. */
  #rethrow(error: unknown): undefined {
    if (this.#closed) return undefined
    const { provider } = this.#request
    const { aborted, reason } = this.#abort.signal
    this.close()
    if (aborted) throw reason
    if (error instanceof ApiError) throw error
    throw this.#body ? responseCut(provider.name, error) : connectionError(provider, error)
  }

  /** An exception here is the gateway's fault, not the provider's. */
  #renderBody(): string {
    const { target, generation, warn } = this.#request
    try {
      return JSON.stringify(this.#kind.protocol.render(withoutAttribution(generation, target), target, warn))
    } catch (error) {
      this.close()
      throw toInternalError(error)
    }
  }

  #post(payload: string): Promise<Response> {
    const { provider, target, generation } = this.#request
    const kind = this.#kind
    const headers = sourceHeaders(generation, kind)
    return post({ provider, kind, target, body: payload, headers, signal: this.#abort.signal })
  }
}

/** Turns an exception of the gateway's own into the 500. */
function toInternalError(error: unknown): ApiError {
  return error instanceof ApiError ? error : internalError(error)
}

type FailureEvent = Extract<GenerationEvent, { readonly type: 'failure' }>

function isFailure(event: GenerationEvent): event is FailureEvent {
  return event.type === 'failure'
}

/** One request to one provider. */
export type UpstreamRequest = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
  /** See `GenerateRequest`. */
  readonly fields?: readonly string[] | undefined
  readonly signal: AbortLike
  /** Until the first token of a stream; absent: as long as the other deadlines allow. */
  readonly firstToken?: FirstTokenTimeout | undefined
  readonly stopwatch?: Stopwatch | undefined
  readonly warn: (message: string) => void
  /** Called when the provider has accepted the request, possibly before any event. */
  readonly onAccepted?: (() => void) | undefined
  /** Called before the bytes of a response are read that the caller can make large. */
  readonly holdMemory?: ((bytes: number) => void) | undefined
}

import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { ProviderError } from '../../domain/generation/provider-error.ts'
import { ApiError, internalError } from '../../lib/errors/errors.ts'
import { parseJson } from '../../lib/json/json.ts'
import type { OnItem, OpenableStream } from '../../lib/push-stream.ts'
import { readText, TooLong } from '../../lib/read-text.ts'
import type { Stopwatch } from '../../lib/stopwatch.ts'
import type { Protocol, Target } from '../../providers/protocols/protocol.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import { abortReason } from '../abort-reason.ts'
import { keysOf, retryAfterOf } from '../upstream/headers.ts'
import { connectionError, post } from '../upstream/post.ts'
import { readFailure, toApiError, unavailable } from '../upstream/upstream-error.ts'
import { Deadlines } from './deadlines.ts'
import { type Piece, upstreamBody, type UpstreamBody } from './upstream-body.ts'
import type { Generation } from '../../domain/generation/request.ts'
import type { AbortLike } from '../../lib/abort.ts'

type Batch = readonly GenerationEvent[]

/** The answer of a provider on the network, which is asked when its first batch is wanted. */
export class UpstreamStream implements OpenableStream<Batch> {
  readonly #question: UpstreamRequest
  readonly #kind: RemoteKind
  readonly #upstream: Stopwatch | undefined
  readonly #abort = new AbortController()
  readonly #deadlines: Deadlines
  #body: UpstreamBody | undefined
  #failure: unknown
  #closed = false

  constructor(question: UpstreamRequest, kind: RemoteKind) {
    this.#question = question
    this.#kind = kind
    this.#upstream = question.upstream
    this.#deadlines = new Deadlines(question.provider, this.#abort)
    if (question.signal.aborted) this.#givenUp()
    else question.signal.addEventListener('abort', this.#givenUp)
  }

  async first(): Promise<Batch | undefined> {
    const text = this.#rendered()
    try {
      this.#upstream?.start()
      const response = await this.#ask(text)
      this.#deadlines.answered()
      if (!response.ok) throw await refusal(response, this.#kind.protocol, this.#question.provider)
      this.#question.accepted?.()
      const body = (this.#body = upstreamBody(response, this.#kind.protocol))
      if (this.#closed) body.close()
      while (this.#goesOn(body)) {
        const batch = this.#said(body, await this.#piece(body))
        if (batch.length > 0) return batch
      }
      return undefined
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** One loop from the socket to whoever takes. */
  async each(take: OnItem<Batch>): Promise<void> {
    const body = this.#body
    if (body === undefined) return
    let taking = false
    try {
      while (this.#goesOn(body)) {
        const batch = this.#said(body, await this.#piece(body))
        if (batch.length === 0) continue
        taking = true
        const taken = take(batch)
        if (taken) await taken
        taking = false
      }
    } catch (error) {
      // Not the provider has failed, and whoever takes closes.
      if (taking) throw error
      this.#failed(error)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#release()
    this.#abort.abort()
  }

  readonly #givenUp = (): void => this.#abort.abort(abortReason(this.#question.signal))

  /** For an answer that was read to its end there is no call any more that could be ended. */
  #release(): void {
    this.#closed = true
    this.#upstream?.stop()
    this.#deadlines.stop()
    this.#question.signal.removeEventListener('abort', this.#givenUp)
    this.#body?.close()
  }

  /** Whether there is more to read. The failure behind what was said last is thrown once that was taken. */
  #goesOn(body: UpstreamBody): boolean {
    if (this.#closed) return false
    if (this.#failure) throw this.#failure
    if (body.finished()) this.#release()
    return !this.#closed
  }

  /** The provider is waited for from now on, and not while a caller is slow to take what came. */
  #piece(body: UpstreamBody): Promise<Piece> {
    this.#upstream?.start()
    this.#deadlines.wanted()
    return body.read()
  }

  /** What the piece says; what a call says that was closed is nobody's. */
  #said(body: UpstreamBody, piece: Piece): Batch {
    if (this.#closed) return []
    this.#upstream?.stop()
    const batch = this.#read(body, piece)
    if (batch.length === 0) return batch
    this.#deadlines.begun()
    const failure = batch.find(isFailure)
    return failure === undefined ? batch : this.#saidBefore(failure, batch)
  }

  /** An event that is too long is the fault of the provider, whatever else fails here is ours. */
  #read(body: UpstreamBody, piece: Piece): Batch {
    try {
      return body.take(piece)
    } catch (error) {
      throw error instanceof TooLong ? error : toOwnError(error)
    }
  }

  #saidBefore(failure: Failure, batch: Batch): Batch {
    this.#failure = errorOf(failure, this.#question.provider, this.#abort.signal)
    const said = batch.slice(0, batch.indexOf(failure))
    if (said.length === 0) throw this.#failure
    return said
  }

  /** Ends the call and throws what has failed; a call that was closed has ended. */
  #failed(error: unknown): undefined {
    if (this.#closed) return undefined
    const { provider } = this.#question
    const { aborted, reason } = this.#abort.signal
    this.close()
    if (aborted) throw reason
    if (error instanceof ApiError) throw error
    throw this.#body
      ? unavailable(provider.name, readFailure(error).message)
      : connectionError(provider, error)
  }

  /** What fails here is a fault of ours, and none of the provider. */
  #rendered(): string {
    const { target, generation, warn } = this.#question
    try {
      return JSON.stringify(this.#kind.protocol.render(generation, target, warn))
    } catch (error) {
      this.close()
      throw toOwnError(error)
    }
  }

  #ask(text: string): Promise<Response> {
    const { provider, target } = this.#question
    return post(provider, this.#kind, target, text, this.#abort.signal)
  }
}

/** An exception of our own as the 500; the causes that have a name stay as they are. */
function toOwnError(error: unknown): ApiError {
  return error instanceof ApiError ? error : internalError(error)
}

type Failure = Extract<GenerationEvent, { readonly type: 'failure' }>

function isFailure(event: GenerationEvent): event is Failure {
  return event.type === 'failure'
}

/** An answer that ends because of us is told as what we did. */
function errorOf({ complaint }: Failure, provider: Provider, aborted: AbortSignal): unknown {
  return aborted.aborted ? aborted.reason : failureOf(complaint, provider)
}

/** In bytes. An error page can be any size; its beginning says enough. */
const longestRefusal = 1024 * 1024

async function refusal(response: Response, wire: Protocol, provider: Provider): Promise<ApiError> {
  const text = await readText(response, longestRefusal).catch(() => '')
  const body = parseJson(text)
  const complaint = body === undefined ? { message: text } : wire.parseError(body)
  const retryAfter = retryAfterOf(response.headers) ?? complaint.retryAfter
  // The status line is the provider's own word; one inside the body is often a copy of another's.
  return failureOf({ ...complaint, status: response.status, answered: true, retryAfter }, provider)
}

function failureOf(complaint: ProviderError, provider: Provider): ApiError {
  return toApiError(complaint, provider.name, hostOf(provider), keysOf(provider))
}

function hostOf(provider: Provider): string {
  return URL.parse(provider.baseUrl)?.host ?? ''
}

/** One question to one provider. */
export type UpstreamRequest = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
  readonly signal: AbortLike
  readonly upstream?: Stopwatch | undefined
  readonly warn: (sentence: string) => void
  /** The provider has taken the call: its answer has begun, though nothing may have been said yet. */
  readonly accepted?: (() => void) | undefined
}

import type { GenerationEvent } from '../../domain/generation/events.ts'
import { clientGone } from '../../lib/errors/errors.ts'
import type { OnItem, PushStream } from '../../lib/push-stream.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { MeteredUsage } from '../billing/meter.ts'
import type { Call } from '../call.ts'
import type { GenerationStream } from '../generate-request.ts'
import type { ProviderStates } from '../provider-states.ts'
import { responseExcessive } from './upstream-error.ts'

type Batch = readonly GenerationEvent[]

/** A response that a provider has begun. */
type OpenedStream = Pick<GenerationStream, 'provider' | 'warnings'> & {
  readonly first: Batch | Promise<Batch | undefined>
  readonly upstream: PushStream<Batch>
}

/** The routes of a call, of which one has been opened. */
export type CallRoutes = {
  /** The answer of the open route broke off. Throws the error if the call cannot start again on another one. */
  answerBroken(error: unknown): void
  /** Opens the next route; rejects with the failure of the call. */
  open(): Promise<MeteredStream>
}

/** No model's answer is longer. One that goes on would fill the memory of a reader that buffers it. */
const maxOutputCharacters = 16 * 1024 * 1024
/** As JSON: the log probabilities of each token can take a hundred times the room of its text. */
const maxAttachedCharacters = 32 * 1024 * 1024

/**
 * Meters each batch, and stores provider states before the caller sees their tool calls. It ends only after
 * the call is settled: what a response promises is on disk. Closing it cancels the call.
 */
export class MeteredStream implements GenerationStream {
  provider: string
  warnings: readonly string[]
  readonly #call: Call
  readonly #states: ProviderStates
  /** The first batch until it is delivered. */
  #first: OpenedStream['first'] | undefined
  #upstream: PushStream<Batch>
  readonly #routes: CallRoutes
  #closed = false
  #attachedLength = 0

  constructor(call: Call, states: ProviderStates, opened: OpenedStream, routes: CallRoutes) {
    this.provider = opened.provider
    this.warnings = opened.warnings
    call.servedWarnings = opened.warnings
    this.#call = call
    this.#states = states
    this.#first = opened.first
    this.#upstream = opened.upstream
    this.#routes = routes
  }

  async forEach(onBatch: OnItem<Batch>): Promise<void> {
    try {
      const first = await this.#first
      this.#first = undefined
      if (first) {
        this.#call.observer?.firstEvents()
        const pending = this.#deliver(first, onBatch)
        if (pending) await pending
      }
      await this.#upstream.forEach((batch) => this.#deliver(batch, onBatch))
      const cancelReason = this.#call.cancelReason()
      // Aborted after its last event, the call is settled as aborted, and its completion is not stored.
      if (this.#call.abortSource.aborted && !this.#closed) throw this.#call.abortSource.reason
      await this.#call.settle(cancelReason)
      if (cancelReason && !this.#closed) throw cancelReason
    } catch (error) {
      this.#upstream.close()
      if (this.#discards(error)) return await this.#startAgain(onBatch)
      await this.#call.settle(this.#call.cancelReason() ?? error)
      throw error
    }
  }

  close(reason?: Error): void {
    this.#closed = true
    if (!this.#call.isSettled()) this.#call.cancel(reason ?? clientGone())
    // After the caller has left, the stream is only read on for its usage.
    if (!this.#call.cancelReason() || this.#call.isSettled()) this.#upstream.close()
  }

  usage(): MeteredUsage {
    return this.#call.usage()
  }

  cost(): Nanos | undefined {
    return this.#call.cost()
  }

  #deliver(batch: Batch, onBatch: OnItem<Batch>): ReturnType<OnItem<Batch>> {
    const { meter, request } = this.#call
    meter.add(batch)
    if (this.#call.cancelReason()) return this.#drain()
    this.#attachedLength += attachedLength(batch)
    requireBounded(meter.outputLength(), this.#attachedLength, this.provider)
    this.#call.content?.add(batch)
    const saved = this.#states.save(request.metadata.organization, this.provider, batch)
    const pending = saved ? saved.then(() => onBatch(batch)) : onBatch(batch)
    if (pending) meter.readerPaused()
    return pending
  }

  /** Whether the answer, which broke off with this error, starts again; then what was received of it is void. */
  #discards(error: unknown): boolean {
    const { request, meter, abortSource } = this.#call
    const { restart } = request
    const isOver = this.#closed || abortSource.aborted || this.#call.cancelReason() || this.#call.isSettled()
    if (isOver || !restart?.isPossible()) return false
    try {
      this.#routes.answerBroken(error)
    } catch {
      return false
    }
    restart.discard()
    meter.restart()
    this.#call.content?.restart()
    this.#attachedLength = 0
    return true
  }

  async #startAgain(onBatch: OnItem<Batch>): Promise<void> {
    try {
      const next = await this.#routes.open()
      this.provider = next.provider
      this.warnings = next.warnings
      this.#first = next.#first
      this.#upstream = next.#upstream
      this.#call.request.restart?.begin(next.provider, next.warnings)
    } catch (error) {
      await this.#call.settle(this.#call.cancelReason() ?? error)
      throw error
    }
    return this.forEach(onBatch)
  }

  /** Reads on without delivering, until the usage has come. */
  #drain(): void {
    const { meter } = this.#call
    if (!meter.awaitsUsage()) this.#call.abort(this.#call.cancelReason())
  }
}

/** Throws the 502 of an answer with more characters, or more of them attached to it, than any model sends. */
export function requireBounded(outputLength: number, attached: number, provider: string): void {
  if (outputLength > maxOutputCharacters || attached > maxAttachedCharacters)
    throw responseExcessive(provider, 'its response is too long')
}

/** The characters of the log probabilities and of the citations as JSON. */
export function attachedLength(batch: Batch): number {
  let length = 0
  for (const event of batch) {
    if (event.type === 'logprobs') length += JSON.stringify(event.logprobs).length
    else if (event.type === 'citations') length += JSON.stringify(event.citations).length
  }
  return length
}

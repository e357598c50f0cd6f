import type { Outcome } from '../domain/accounting/outcome.ts'
import type { Generation } from '../domain/generation/request.ts'
import { AbortSource } from '../lib/abort.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { abortReason } from './abort-reason.ts'
import { logFailedSettlement } from './billing/billing.ts'
import { estimatedPrompt } from './billing/estimate.ts'
import { createMeter, type Meter, type MeteredUsage } from './billing/meter.ts'
import { costOfUsage, outcomeOf } from './billing/outcome.ts'
import type { Nanos } from './billing/price.ts'
import { costBoundOf } from './billing/cost-bound.ts'
import type { GatewayParts, GenerateRequest } from './gateway.ts'
import { withInlineImages } from './images/remote-image.ts'
import type { CallObserver } from './observer.ts'
import type { ConcurrencySlot } from './rate-limits/admission.ts'

export type CallParts = Pick<GatewayParts, 'billing' | 'calls' | 'images' | 'observer' | 'log'>

/** For the usage of an answer whose caller has left behind its end. */
const usageTimeoutMs = 5000

/**
 * A question on its way: one of the open calls. What it takes is counted while it is answered, and entered once, however
 * it ends; a caller who leaves ends it, wherever it then is.
 */
export class Call {
  readonly question: GenerateRequest
  readonly meter: Meter
  readonly observed: CallObserver | undefined
  /** What ends all that is under way for it. */
  readonly stop = new AbortSource()
  readonly #parts: CallParts
  #place: ConcurrencySlot | undefined
  #inlined: Promise<Generation> | undefined
  #outcome: Outcome | undefined
  #over: Promise<unknown> | undefined
  #leaving: unknown
  #usageTimer: Timer | undefined

  constructor(question: GenerateRequest, parts: CallParts) {
    const { facts, reserved: booked, signal } = question
    this.question = question
    this.#parts = parts
    // Before the meter: what the meter counts from its start must end before the request does.
    this.observed = parts.observer?.call(facts, booked !== undefined)
    this.meter = createMeter(question)
    this.#place = booked
    parts.calls.add(this)
    if (signal.aborted) this.#callerLeft()
    else signal.addEventListener('abort', this.#callerLeft)
  }

  /**
   * Takes what it needs of limits and balance, which a booked call has; throws or rejects with the 429 or 402. Of the
   * tokens only the prompt is taken: a guess at the answer would refuse callers who ask for much and get little.
   */
  open(): Promise<void> | undefined {
    const { facts, billing, admission, model, generation, reserved: booked } = this.question
    if (booked) return undefined
    const promptTokens = estimatedPrompt(generation)
    this.#place = admission.open(promptTokens)
    return this.#parts.billing.reserve(facts, billing, () => costBoundOf(generation, model, promptTokens))
  }

  /** The generation with the bytes of its images, for providers that take no addresses; fetched once. */
  inlined(): Promise<Generation> {
    const hold = this.#place?.memory.take
    return (this.#inlined ??= withInlineImages(this.question.generation, this.stop, this.#parts.images, hold))
  }

  /**
   * It is over: whole, or with this error. Resolves once that is in the books. Only the first word counts; whoever
   * comes later waits for the same.
   */
  over(error?: unknown): Promise<unknown> {
    return (this.#over ??= this.#end(error))
  }

  /** Whether it is. */
  ended(): boolean {
    return this.#over !== undefined
  }

  /**
   * Ends it because its caller has left, or cancelled it. An answer that is at its end is read on, for some seconds and for nobody, until
   * its usage has come: then it costs what the provider counted.
   */
  leave(reason: unknown): void {
    if (this.#over || this.#leaving) return
    // A gateway that stops waits for nothing.
    if (!this.meter.awaitsUsage() || isInterruption(reason)) return this.cut(reason)
    this.#leaving = reason
    this.#usageTimer = setTimeout(() => this.cut(reason), usageTimeoutMs)
  }

  /** Why its caller has left, while it is read on all the same. */
  leaving(): unknown {
    return this.#leaving
  }

  /** Ends it where nobody waits for its books: of what goes wrong there only the log hears. */
  cut(reason: unknown): void {
    // First, so that whatever comes of its books, nothing goes on that costs.
    this.stop.abort(reason)
    this.over(reason).catch(logFailedSettlement(this.#parts.log))
  }

  /** What has been used up to now, and its price; undefined for a model without one. */
  usage(): MeteredUsage {
    return this.#outcome?.usage ?? this.meter.usage()
  }

  cost(): Nanos | undefined {
    return this.#outcome ? this.#outcome.cost : costOfUsage(this.meter.usage(), this.question, this.meter)
  }

  readonly #callerLeft = (): void => this.leave(abortReason(this.question.signal))

  #end(error: unknown): Promise<unknown> {
    const { question, meter } = this
    const { billing, calls } = this.#parts
    question.signal.removeEventListener('abort', this.#callerLeft)
    clearTimeout(this.#usageTimer)
    calls.delete(this)
    const outcome = outcomeOf(meter, question, error)
    this.#outcome = outcome
    this.#warnOfCounts()
    this.observed?.callEnded(outcome)
    this.#place?.close((outcome.usage?.promptTokens ?? 0) + (outcome.usage?.completionTokens ?? 0))
    const close = question.reserved ? billing.settleEventually : billing.settle
    return close(question.facts, outcome, question.onSettled?.(error, this.usage()))
  }

  #warnOfCounts(): void {
    const counted = this.meter.implausibleUsage()
    if (!counted) return
    const { promptTokens, completionTokens } = counted
    const route = this.meter.route()
    this.#parts.log.warn(
      'A provider counted more tokens than the request could use; the most that it could was charged.',
      {
        provider: route?.provider.name,
        model: route?.model,
        promptTokens,
        completionTokens,
      },
    )
  }
}

function isInterruption(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'interrupted'
}

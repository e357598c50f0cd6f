import type { Outcome } from '../domain/accounting/outcome.ts'
import type { Generation } from '../domain/generation/request.ts'
import { AbortSource } from '../lib/abort.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { abortReason } from './abort-reason.ts'
import { logFailedSettlement } from './billing/billing.ts'
import { estimatedPrompt } from './billing/estimate.ts'
import { Meter, type MeteredUsage } from './billing/meter.ts'
import { costOfUsage, outcomeOf } from './billing/outcome.ts'
import type { Nanos } from './billing/price.ts'
import { costBoundOf } from './billing/cost-bound.ts'
import type { GatewayParts, GenerateRequest } from './gateway.ts'
import { withInlineImages } from './images/remote-image.ts'
import type { CallObserver } from './observer.ts'
import type { ConcurrencySlot } from './rate-limits/admission.ts'

export type CallDependencies = Pick<GatewayParts, 'billing' | 'calls' | 'images' | 'observer' | 'log'>

/** For the usage of an answer whose caller has left behind its end. */
const usageTimeoutMs = 5000

/**
 * A question on its way: one of the open calls. What it takes is counted while it is answered, and entered once, however
 * it ends; a caller who leaves ends it, wherever it then is.
 */
export class Call {
  readonly request: GenerateRequest
  readonly meter: Meter
  readonly observed: CallObserver | undefined
  /** What ends all that is under way for it. */
  readonly abortSource = new AbortSource()
  readonly #dependencies: CallDependencies
  #slot: ConcurrencySlot | undefined
  #inlinedGeneration: Promise<Generation> | undefined
  #outcome: Outcome | undefined
  #settled: Promise<unknown> | undefined
  #cancelReason: unknown
  #usageTimer: Timer | undefined

  constructor(request: GenerateRequest, parts: CallDependencies) {
    const { facts, reserved, signal } = request
    this.request = request
    this.#dependencies = parts
    // Before the meter: what the meter counts from its start must end before the request does.
    this.observed = parts.observer?.call(facts, reserved !== undefined)
    this.meter = new Meter(request)
    this.#slot = reserved
    parts.calls.add(this)
    if (signal.aborted) this.#onCallerLeft()
    else signal.addEventListener('abort', this.#onCallerLeft)
  }

  /**
   * Takes what it needs of limits and balance, which a booked call has; throws or rejects with the 429 or 402. Of the
   * tokens only the prompt is taken: a guess at the answer would refuse callers who ask for much and get little.
   */
  reserve(): Promise<void> | undefined {
    const { facts, billing, admission, model, generation, reserved } = this.request
    if (reserved) return undefined
    const promptTokens = estimatedPrompt(generation)
    this.#slot = admission.open(promptTokens)
    return this.#dependencies.billing.reserve(facts, billing, () =>
      costBoundOf(generation, model, promptTokens),
    )
  }

  /** The generation with the bytes of its images, for providers that take no addresses; fetched once. */
  inlineImages(): Promise<Generation> {
    const hold = this.#slot?.memory.take
    return (this.#inlinedGeneration ??= withInlineImages(
      this.request.generation,
      this.abortSource,
      this.#dependencies.images,
      hold,
    ))
  }

  /**
   * It is over: whole, or with this error. Resolves once that is in the books. Only the first word counts; whoever
   * comes later waits for the same.
   */
  settle(error?: unknown): Promise<unknown> {
    return (this.#settled ??= this.#settle(error))
  }

  /** Whether it is. */
  isSettled(): boolean {
    return this.#settled !== undefined
  }

  /**
   * Ends it because its caller has left, or cancelled it. An answer that is at its end is read on, for some seconds and for nobody, until
   * its usage has come: then it costs what the provider counted.
   */
  cancel(reason: unknown): void {
    if (this.#settled || this.#cancelReason) return
    // A gateway that stops waits for nothing.
    if (!this.meter.awaitsUsage() || isInterruption(reason)) return this.abort(reason)
    this.#cancelReason = reason
    this.#usageTimer = setTimeout(() => this.abort(reason), usageTimeoutMs)
  }

  /** Why its caller has left, while it is read on all the same. */
  cancelReason(): unknown {
    return this.#cancelReason
  }

  /** Ends it where nobody waits for its books: of what goes wrong there only the log hears. */
  abort(reason: unknown): void {
    // First, so that whatever comes of its books, nothing goes on that costs.
    this.abortSource.abort(reason)
    this.settle(reason).catch(logFailedSettlement(this.#dependencies.log))
  }

  /** What has been used up to now, and its price; undefined for a model without one. */
  usage(): MeteredUsage {
    return this.#outcome?.usage ?? this.meter.usage()
  }

  cost(): Nanos | undefined {
    return this.#outcome ? this.#outcome.cost : costOfUsage(this.meter.usage(), this.request, this.meter)
  }

  readonly #onCallerLeft = (): void => this.cancel(abortReason(this.request.signal))

  #settle(error: unknown): Promise<unknown> {
    const { request, meter } = this
    const { billing, calls } = this.#dependencies
    request.signal.removeEventListener('abort', this.#onCallerLeft)
    clearTimeout(this.#usageTimer)
    calls.delete(this)
    const outcome = outcomeOf(meter, request, error)
    this.#outcome = outcome
    this.#warnOfImplausibleUsage()
    this.observed?.callEnded(outcome)
    this.#slot?.close((outcome.usage?.promptTokens ?? 0) + (outcome.usage?.completionTokens ?? 0))
    const settle = request.reserved ? billing.settleEventually : billing.settle
    return settle(request.facts, outcome, request.onSettled?.(error, this.usage()))
  }

  #warnOfImplausibleUsage(): void {
    const implausible = this.meter.implausibleUsage()
    if (!implausible) return
    const { promptTokens, completionTokens } = implausible
    const route = this.meter.route()
    this.#dependencies.log.warn(
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

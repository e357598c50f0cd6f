import type { Outcome } from '../domain/accounting/request-metadata.ts'
import type { Generation } from '../domain/generation/request.ts'
import { joinWarnings } from '../domain/generation/warnings.ts'
import { abortReason, AbortSource } from '../lib/abort.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { notInSet } from '../lib/transient.ts'
import type { Nanos } from '../lib/usd.ts'
import { noWrites } from '../storage/ports/ledger.ts'
import { logFailedSettlement } from './billing/billing.ts'
import { costBoundOf, requirePayable } from './billing/cost-bound.ts'
import { estimatePromptTokens } from './billing/estimate.ts'
import { Meter, type MeteredUsage } from './billing/meter.ts'
import { costOfUsage, outcomeOf, reportEnd, warnOfImplausibleUsage } from './billing/outcome.ts'
import { ContentRecorder } from './content-log.ts'
import type { GatewayDependencies } from './gateway-dependencies.ts'
import type { GenerateRequest } from './generate-request.ts'
import { withInlineImages } from './images/remote-image.ts'
import type { CallObserver } from './observer.ts'
import { requestDetails } from './request-details.ts'
import type { Restored } from './provider-states.ts'
import type { ConcurrencySlot } from './rate-limits/admission.ts'
import { type ReplyRoom, replyRoomOf } from './reply-room.ts'

type CallDependencies = Pick<
  GatewayDependencies,
  'billing' | 'calls' | 'images' | 'observer' | 'replySizes' | 'speeds' | 'states' | 'log' | 'usageTimeoutMs'
>

/** How long an answer whose caller has left is read on for its usage. */
const defaultUsageTimeoutMs = 5000

const noWarnings: readonly string[] = []

/** A request to a model, from its admission to its settlement, which happens once; aborted when its caller leaves. */
export class Call {
  readonly request: GenerateRequest
  readonly meter: Meter
  readonly observer: CallObserver | undefined
  readonly content: ContentRecorder | undefined
  readonly replyRoom: ReplyRoom | undefined
  /** Aborts everything that runs for the call. */
  readonly abortSource = new AbortSource()
  /** Its index among the open calls. */
  index = notInSet
  /** The request of the caller, with the provider states of earlier turns once they are restored. */
  generation: Generation
  /** The states that were not restored, a sentence each. */
  warnings: readonly string[] = noWarnings
  /** The same with those of the provider that serves the call. */
  servedWarnings: readonly string[] = noWarnings
  readonly #dependencies: CallDependencies
  /** Whether it waits for a slot of a provider. */
  waitsForSlot = false
  #slot: ConcurrencySlot | undefined
  #releaseProviderSlot: (() => void) | undefined
  #inlinedGeneration: Promise<Generation> | undefined
  #outcome: Outcome | undefined
  #settled: Promise<unknown> | undefined
  #cancelReason: unknown
  #usageTimer: Timer | undefined

  constructor(request: GenerateRequest, dependencies: CallDependencies) {
    const { metadata, reserved, signal, content } = request
    this.request = request
    this.#dependencies = dependencies
    // Before the meter, so that the times of the meter end before those of the observer.
    this.observer = request.observer ?? dependencies.observer?.backgroundCall(metadata)
    request.observer?.callStarted(metadata)
    this.meter = new Meter(request)
    if (content) this.content = new ContentRecorder(content, this)
    this.replyRoom = replyRoomOf(request, dependencies.replySizes)
    this.#slot = reserved
    this.generation = request.generation
    dependencies.calls.add(this)
    if (signal.aborted) this.#onCallerLeft()
    else signal.addEventListener('abort', this.#onCallerLeft)
  }

  /**
   * Restores the provider states of earlier turns, which are part of the prompt. Then takes the slot, the tokens and the
   * reservation that the call needs, unless they were reserved before; throws or rejects with the 429 or 402. Only the
   * tokens of the prompt are taken: an estimate of the answer would reject callers who allow much and receive little.
   */
  begin(): Promise<void> | undefined {
    const { admission, generation, reserved } = this.request
    if (!reserved) requirePayable(generation, this.request)
    const restored = this.#dependencies.states.restore(this.request, admission.memory.acquire)
    return restored ? restored.then((complete) => this.#reserveRestored(complete)) : this.#reserve()
  }

  /**
   * The generation with its images inlined, for providers that do not fetch images; each image is fetched
   * once.
   */
  inlineImages(): Promise<Generation> {
    return (this.#inlinedGeneration ??= withInlineImages(
      this.generation,
      this.abortSource,
      this.#dependencies.images,
      (bytes) => this.#slot?.memory.acquire(bytes),
    ))
  }

  /** Acquires memory that the call holds until it ends; returns false where it does not fit. */
  tryAcquireMemory(bytes: number): boolean {
    return this.#slot?.memory.tryAcquire(bytes) === true
  }

  /** Keeps a slot of a provider until the attempt has failed or the call ends. */
  holdProviderSlot(release: () => void): void {
    this.releaseProviderSlot()
    if (this.#settled) release()
    else this.#releaseProviderSlot = release
  }

  releaseProviderSlot(): void {
    this.#releaseProviderSlot?.()
    this.#releaseProviderSlot = undefined
  }

  /**
   * Settles the call, which is complete or has failed with this error; resolves when the settlement is
   * stored. Only the first call has an effect; later ones return the same promise.
   */
  settle(error?: unknown): Promise<unknown> {
    return (this.#settled ??= this.#settle(error))
  }

  /** The key whose end also ends the call. A background run that a provider has begun goes on without it. */
  get waitingKey(): string | undefined {
    const { metadata, reserved } = this.request
    return reserved && !this.waitsForSlot ? undefined : metadata.key
  }

  /** Whether `settle` has been called. */
  isSettled(): boolean {
    return this.#settled !== undefined
  }

  /**
   * Ends the call because its caller has left or has cancelled it. An answer whose length is known from its usage alone
   * is read on for up to `usageTimeoutMs`, so that the caller pays what the provider counted.
   */
  cancel(reason: unknown): void {
    if (this.#settled || this.#cancelReason) return
    // A gateway that is shutting down does not wait.
    if (!this.meter.awaitsUsage() || isInterruption(reason)) return this.abort(reason)
    this.#cancelReason = reason
    const timeoutMs = this.#dependencies.usageTimeoutMs ?? defaultUsageTimeoutMs
    this.#usageTimer = setTimeout(() => this.abort(reason), timeoutMs)
  }

  /** Why the caller has left, while the usage is still awaited; else undefined. */
  cancelReason(): unknown {
    return this.#cancelReason
  }

  /** Aborts the call and settles it in the background; a failed settlement is logged. */
  abort(reason: unknown): void {
    // First, so that nothing goes on that costs money, even if the settlement fails.
    this.abortSource.abort(reason)
    this.settle(reason).catch(logFailedSettlement(this.#dependencies.log))
  }

  /** The usage up to now. */
  usage(): MeteredUsage {
    return this.#outcome?.usage ?? this.meter.usage()
  }

  cost(): Nanos | undefined {
    return this.#outcome ? this.#outcome.cost : costOfUsage(this.meter.usage(), this.request, this.meter)
  }

  #reserveRestored({ generation, warnings }: Restored): Promise<void> | undefined {
    this.generation = generation
    this.warnings = warnings
    // The caller may have left: what a settled call takes would never be released.
    if (this.#settled) throw this.abortSource.reason
    return this.#reserve()
  }

  #reserve(): Promise<void> | undefined {
    if (this.request.reserved) return undefined
    const promptTokens = estimatePromptTokens(this.generation)
    const opened = this.request.admission.open(promptTokens)
    return opened instanceof Promise
      ? opened.then((slot) => this.#reserveCost(slot, promptTokens))
      : this.#reserveCost(opened, promptTokens)
  }

  #reserveCost(slot: ConcurrencySlot, promptTokens: number): Promise<void> | undefined {
    const { metadata, model, stream, firstTokenTimeoutMs } = this.request
    // A call that was settled while it waited for the slot would never release it.
    if (this.#settled) {
      slot.release(0)
      throw this.abortSource.reason
    }
    this.#slot = slot
    // With a timeout of its own, the caller can end an attempt on each route.
    const attempts = stream && firstTokenTimeoutMs !== undefined ? model.routes.length : 1
    return this.#dependencies.billing.reserve(metadata, this.request, () =>
      costBoundOf(this.generation, model, promptTokens, attempts),
    )
  }

  readonly #onCallerLeft = (): void => this.cancel(abortReason(this.request.signal))

  #settle(error: unknown): Promise<unknown> {
    const { request, meter } = this
    const { billing, calls } = this.#dependencies
    request.signal.removeEventListener('abort', this.#onCallerLeft)
    clearTimeout(this.#usageTimer)
    calls.delete(this)
    this.releaseProviderSlot()
    const outcome = outcomeOf(meter, request, error)
    this.#outcome = outcome
    warnOfImplausibleUsage(meter, this.#dependencies.log)
    this.#recordSpeed()
    if (error !== undefined) this.observer?.attemptFailed(error)
    this.observer?.attemptEnded(outcome)
    const details = requestDetails(error, this.observer?.attempts, this.#allWarnings())
    const content = meter.route() && this.content?.print(error)
    this.#slot?.release((outcome.usage?.promptTokens ?? 0) + (outcome.usage?.completionTokens ?? 0))
    const settle = request.reserved ? billing.settleEventually : billing.settle
    const recorded = details || content ? { ...outcome, details, content } : outcome
    const writes = request.onSettled?.(error, this.usage()) ?? noWrites
    const settled = settle(request.metadata, recorded, writes)
    const isPromised = writes.length > 0 && !request.reserved
    if (this.observer) reportEnd(this.observer, outcome, isPromised ? settled : undefined)
    return settled
  }

  #allWarnings(): readonly string[] {
    const { warnings = noWarnings } = this.request
    return joinWarnings(warnings, this.servedWarnings.length > 0 ? this.servedWarnings : this.warnings)
  }

  #recordSpeed(): void {
    const [route, speed] = [this.meter.route(), this.meter.speed()]
    if (route && speed !== undefined) this.#dependencies.speeds.record(route, speed)
  }
}

function isInterruption(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'interrupted'
}

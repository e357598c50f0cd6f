import type { Api, Outcome, RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Attempt, RequestObserver } from '../gateway/observer.ts'
import type { ModelRoute } from '../gateway/models/model.ts'
import { sentenceOf } from '../gateway/request-details.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { loggable } from '../lib/text.ts'
import { Stopwatch } from '../lib/time.ts'
import { notInSet, type TransientMember } from '../lib/transient.ts'

/** The reply that the caller received. */
type Reply = {
  readonly status: number
  /** The route pattern, `/v1/models/*`; absent where no route matches. */
  readonly path?: string | undefined
  readonly organization?: string | undefined
  readonly key?: string | undefined
}

/** The client of a rejected request, as it describes itself: the texts are not verified and can have any length. */
export type RejectedClient = {
  /** Without the query. */
  readonly path: string
  readonly userAgent?: string | undefined
  /** The public id of the key that it sent. */
  readonly claimedKey?: string | undefined
}

/** Receives the events of one record. */
export type RecordListener = {
  /** A call of a request begins. */
  callStarted?(record: RequestRecord): void
  /** The call begins to wait for a slot of a provider, or its wait has ended. */
  queueChanged?(record: RequestRecord): void
  /** The first events of the response have arrived. */
  firstEvents?(record: RequestRecord): void
  callEnded(record: RequestRecord): void
  /** The request has finished: its record does not change any more. */
  finished(record: RequestRecord): void
}

/** The outcome of an attempt that was skipped because the circuit breaker of its route is open. */
export const circuitOpen = 'circuit_open'

/**
 * Collects the telemetry of one request. It is finished once the reply is made and all calls have ended, whichever is
 * later. It never contains prompts, completions or API keys.
 */
export class RequestRecord implements RequestObserver, TransientMember {
  readonly id: string
  readonly method: string
  /** True for a background run, which has no reply. */
  readonly background: boolean
  readonly startedAt = performance.now()
  readonly upstreamStopwatch = new Stopwatch()
  readonly attempts: Attempt[] = []
  /** Its index among the open requests. */
  index = notInSet
  /** The `traceparent` header; read only if tracing is enabled. */
  traceparent?: string | undefined
  metadata?: RequestMetadata
  outcome?: Outcome
  reply?: Reply
  /** The error that the caller received as a reply, and the client that sent the request. */
  rejection?: { readonly error: ApiError; readonly client?: RejectedClient | undefined }
  /** Milliseconds until the reply began, without the time spent waiting for providers. */
  gatewayMs = 0
  /** Milliseconds from start to finish; 0 while the request is open. */
  totalMs = 0
  /** Milliseconds since 1970; 0 while the request is open. */
  finishedAt = 0
  /** Milliseconds from start to the first events of the answer; undefined before. */
  firstEventsMs: number | undefined
  /** The route for which the call waits; undefined while it does not wait for a slot. */
  queuedFor: ModelRoute | undefined
  private queuedAt = 0
  private pastQueuedMs = 0
  /** The part of that of earlier attempts. */
  private attributedMs = 0
  private openCalls = 0
  private callStartedAt = 0
  private readonly listener: RecordListener

  constructor(id: string, method: string, listener: RecordListener, background = false) {
    this.id = id
    this.method = method
    this.listener = listener
    this.background = background
  }

  requestReceived(metadata: RequestMetadata): void {
    this.metadata = metadata
  }

  callStarted(metadata: RequestMetadata): void {
    this.requestReceived(metadata)
    this.callStartedAt = performance.now()
    this.openCalls++
    this.listener.callStarted?.(this)
  }

  attemptStarted(route: ModelRoute): void {
    const queuedMs = this.queuedMs() - this.attributedMs
    this.attributedMs += queuedMs
    this.attempts.push({ route, startedAt: performance.now(), durationMs: 0, queuedMs })
  }

  routeSkipped(route: ModelRoute): void {
    const skipped = { outcome: circuitOpen, durationMs: 0, queuedMs: 0 }
    this.attempts.push({ route, startedAt: performance.now(), ...skipped })
  }

  queued(route: ModelRoute): void {
    this.queuedFor = route
    this.queuedAt = performance.now()
    this.listener.queueChanged?.(this)
  }

  dequeued(): void {
    this.pastQueuedMs = this.queuedMs()
    this.queuedFor = undefined
    this.listener.queueChanged?.(this)
  }

  /** Milliseconds that the request has waited for slots of providers until now. */
  queuedMs(): number {
    return this.pastQueuedMs + (this.queuedFor === undefined ? 0 : performance.now() - this.queuedAt)
  }

  attemptFailed(error: unknown): void {
    const last = this.attempts.at(-1)
    if (last === undefined || last.outcome !== undefined) return
    if (error instanceof ApiError) this.endAttempt(error.code ?? error.type, error.status)
    else this.endAttempt('internal_error', 500)
    last.message = sentenceOf(error)
    if (error instanceof ApiError) last.providerMessage = error.providerMessage
  }

  firstEvents(): void {
    this.firstEventsMs = performance.now() - this.startedAt
    this.listener.firstEvents?.(this)
  }

  attemptEnded({ error = 'ok', status }: Outcome): void {
    this.endAttempt(error, status)
  }

  callEnded(outcome: Outcome): void {
    this.outcome = outcome
    this.attemptEnded(outcome)
    this.openCalls--
    this.listener.callEnded(this)
    if (this.background) this.gatewayMs = this.ownMs()
    this.finishIfComplete()
  }

  rejected(error: ApiError, client?: RejectedClient): void {
    this.rejection = { error, client }
  }

  replied(reply: Reply): void {
    this.reply = reply
    this.gatewayMs = this.ownMs()
    this.finishIfComplete()
  }

  /** Whether a call of the request runs. */
  isCalling(): boolean {
    return this.openCalls > 0
  }

  /** Milliseconds until the first token; undefined if the request is not a stream or has no token yet. */
  firstTokenMs(): number | undefined {
    if (this.metadata?.stream !== true || this.outcome?.firstToken === undefined) return undefined
    return this.callStartedAt - this.startedAt + this.outcome.firstToken
  }

  /** The provider kind of the last attempt that was not skipped. */
  providerKind(): string | undefined {
    return this.attempts.findLast(({ outcome }) => outcome !== circuitOpen)?.route.provider.kind.name
  }

  /** The route that serves the request, or has served it. */
  servingRoute(): ModelRoute | undefined {
    const last = this.attempts.at(-1)
    return last?.outcome === undefined || last.outcome === 'ok' ? last?.route : undefined
  }

  /** The status of the reply; if the call failed after the reply began, the status of that failure. */
  status(): number {
    if (this.rejection === undefined && this.outcome?.error !== undefined) return this.outcome.status
    return this.reply?.status ?? this.outcome?.status ?? 0
  }

  /** The error code; undefined if the request succeeded. */
  errorCode(): string | undefined {
    const { rejection } = this
    return rejection ? (rejection.error.code ?? rejection.error.type) : this.outcome?.error
  }

  /** The route pattern; if no route matches, the path that the client sent. */
  path(): string | undefined {
    if (this.reply?.path !== undefined) return this.reply.path
    const requestedPath = this.rejection?.client?.path
    return requestedPath === undefined ? undefined : loggable(requestedPath)
  }

  private ownMs(): number {
    const waitedMs = this.upstreamStopwatch.elapsedMs() + this.queuedMs()
    return Math.max(0, performance.now() - this.startedAt - waitedMs)
  }

  private endAttempt(outcome: string, status: number): void {
    const last = this.attempts.at(-1)
    if (last === undefined || last.outcome !== undefined) return
    last.durationMs = performance.now() - last.startedAt
    last.outcome = outcome
    last.status = status
  }

  private finishIfComplete(): void {
    if (this.openCalls > 0 || (this.reply === undefined && !this.background)) return
    this.totalMs = performance.now() - this.startedAt
    this.finishedAt = Date.now()
    this.listener.finished(this)
  }
}

/** A record without a listener. */
export function createDetachedRecord(): RequestRecord {
  return new RequestRecord('', '', { callEnded() {}, finished() {} })
}

const probePaths: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz', '/metrics'])

/** True for a successful health probe or metrics scrape, which would only fill logs and traces. */
export function isRoutineProbe(record: RequestRecord): boolean {
  return probePaths.has(record.reply?.path) && record.status() < 400
}

/** OpenTelemetry's value of `gen_ai.operation.name` for a request of the API. */
export function operationName(api: Api | undefined): 'chat' | 'text_completion' | 'embeddings' {
  if (api === 'embeddings') return 'embeddings'
  return api === 'completions' ? 'text_completion' : 'chat'
}

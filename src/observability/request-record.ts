import type { CallObserver } from '../gateway/observer.ts'
import type { ModelRoute } from '../gateway/models/model.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { loggable } from '../lib/text.ts'
import { createStopwatch, type Stopwatch } from '../lib/stopwatch.ts'
import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Outcome } from '../domain/accounting/outcome.ts'

/** One try of one route. */
export type Attempt = {
  readonly route: ModelRoute
  /** As `performance.now()` counts. */
  readonly startedAt: number
  /** How it ended: `ok`, or the code of the error; absent while it runs. */
  outcome?: string
  /** The status of that error. */
  status?: number
  milliseconds: number
}

/** What came of a request, for its caller. */
export type Reply = {
  readonly status: number
  /** The path as the interface writes it, `/v1/models/*`; absent where there is no such route. */
  readonly path?: string | undefined
  readonly organization?: string | undefined
  readonly key?: string | undefined
}

/** The client whose request was rejected, as it describes itself: texts of any length. */
export type RejectedClient = {
  /** Without the query. */
  readonly path: string
  readonly userAgent?: string | undefined
  /** The public id of its key, which was not verified. */
  readonly claimedKey?: string | undefined
}

/** Hears of the steps of a request that others count. */
export type Steps = { ended(record: RequestRecord): void; over(record: RequestRecord): void }

/** The outcome of an attempt that was not made: the route is left alone for a moment. */
export const circuitOpen = 'left_alone'

/**
 * What is known of a request, from its first moment until its reply was made and its calls have ended, whichever is
 * later. It holds no word of prompts and answers, and no key.
 */
export class RequestRecord implements CallObserver {
  readonly id: string
  readonly method: string
  /** A call that was booked by a request of long ago: nobody waits for a reply. */
  readonly background: boolean
  readonly startedAt = performance.now()
  readonly upstream: Stopwatch = createStopwatch()
  readonly attempts: Attempt[] = []
  /** Of the caller's own trace, where traces are kept. */
  traceparent?: string | undefined
  facts?: RequestMetadata
  outcome?: Outcome
  reply?: Reply
  /** The error that the caller got as a reply, and what is known of the client. */
  refusal?: { readonly error: ApiError; readonly client?: RejectedClient | undefined }
  /** Milliseconds that the gateway itself took until the reply began. */
  own = 0
  /** Milliseconds from the beginning to the end. */
  total = 0
  private calls = 0
  private calledAt = 0
  private readonly steps: Steps

  constructor(id: string, method: string, steps: Steps, background = false) {
    this.id = id
    this.method = method
    this.steps = steps
    this.background = background
  }

  noted(facts: RequestMetadata): void {
    this.facts = facts
  }

  called(facts: RequestMetadata): void {
    this.noted(facts)
    this.calledAt = performance.now()
    this.calls++
  }

  attemptStarted(route: ModelRoute): void {
    this.attempts.push({ route, startedAt: performance.now(), milliseconds: 0 })
  }

  routeSkipped(route: ModelRoute): void {
    this.attempts.push({ route, startedAt: performance.now(), outcome: circuitOpen, milliseconds: 0 })
  }

  attemptFailed(error: unknown): void {
    if (error instanceof ApiError) this.settle(error.code ?? error.type, error.status)
    else this.settle('internal_error', 500)
  }

  callEnded(outcome: Outcome): void {
    this.outcome = outcome
    this.settle(outcome.error ?? 'ok', outcome.status)
    this.calls--
    this.steps.ended(this)
    if (this.background) this.own = performance.now() - this.startedAt - this.upstream.soFar()
    this.closeWhenOver()
  }

  refused(error: ApiError, client?: RejectedClient): void {
    this.refusal = { error, client }
  }

  replied(reply: Reply): void {
    this.reply = reply
    this.own = Math.max(0, performance.now() - this.startedAt - this.upstream.soFar())
    this.closeWhenOver()
  }

  /** Milliseconds until the first token of a stream. */
  firstToken(): number | undefined {
    if (this.facts?.stream !== true || this.outcome?.firstToken === undefined) return undefined
    return this.calledAt - this.startedAt + this.outcome.firstToken
  }

  /** The kind of the provider that was asked last. */
  kind(): string | undefined {
    return this.attempts.findLast(({ outcome }) => outcome !== circuitOpen)?.route.provider.kind.name
  }

  /** The status that the caller got or, where the answer broke behind it, that it would have got. */
  status(): number {
    if (this.refusal === undefined && this.outcome?.error !== undefined) return this.outcome.status
    return this.reply?.status ?? this.outcome?.status ?? 0
  }

  /** The code of what went wrong. */
  error(): string | undefined {
    const { refusal } = this
    return refusal ? (refusal.error.code ?? refusal.error.type) : this.outcome?.error
  }

  /** The path of the route, as the interface writes it; where there is none, that of the request. */
  path(): string | undefined {
    if (this.reply?.path !== undefined) return this.reply.path
    const sent = this.refusal?.client?.path
    return sent === undefined ? undefined : loggable(sent)
  }

  private settle(outcome: string, status: number): void {
    const last = this.attempts.at(-1)
    if (last === undefined || last.outcome !== undefined) return
    last.milliseconds = performance.now() - last.startedAt
    last.outcome = outcome
    last.status = status
  }

  private closeWhenOver(): void {
    if (this.calls > 0 || (this.reply === undefined && !this.background)) return
    this.total = performance.now() - this.startedAt
    this.steps.over(this)
  }
}

/** A record that nobody hears of. */
export function unheardRecord(): RequestRecord {
  return new RequestRecord('', '', { ended() {}, over() {} })
}

import type { Organization } from '../../domain/accounting/organization.ts'
import { onAbort, type AbortLike, abortReason } from '../../lib/abort.ts'
import { rateLimited } from '../../lib/errors/http-errors.ts'
import { IdleCache } from '../../lib/idle-cache.ts'
import { monotonicNow, nextTurn } from '../../lib/time.ts'
import { TokenBucket } from '../../lib/token-bucket.ts'

/** Bytes. A body with a longer text, or with more values, takes so long that others of its organization wait for their turn. */
export const minLargeBody = 256 * 1024

/** For large bodies of one organization in one process; a hundred agents with long conversations send less. */
const bytesPerMinute = 4 * 1024 ** 3

/** Large bodies of one organization that wait for their turn: as many as a hundred agents send at once. */
export const maxWaiting = 128
const maxWaitMs = 10_000
/** The longest rest after a body. */
const maxRestMs = 1000

/** Calls the function after so many milliseconds. */
type RestTimer = (milliseconds: number, end: () => void) => void

const startTimer: RestTimer = (milliseconds, end) => void setTimeout(end, milliseconds).unref()

/**
 * Lets each organization process one large body at a time. Then its line rests for as long as that took, so that bodies of
 * one organization never take more than half of the processor.
 */
export class LargeBodies {
  readonly #now: () => number
  readonly #after: RestTimer
  readonly #lines = new IdleCache<Line>((line) => line.isIdle())

  /** `now` is milliseconds of a monotonic clock, and `after` the timer of the rests. */
  constructor(now: () => number = monotonicNow, after: RestTimer = startTimer) {
    this.#now = now
    this.#after = after
  }

  /** Takes bytes that are about to be read; throws the 429 if they are too many, or if the line is full. */
  takeBytes(organization: Organization, bytes: number): void {
    this.#lineOf(organization).takeBytes(bytes)
  }

  /** Waits for the turn of a body. Rejects with the 429 if the line is full or too slow, or once the signal aborts. */
  async enter(organization: Organization, signal: AbortLike): Promise<BodyTurn> {
    const line = this.#lineOf(organization)
    await line.enter(signal)
    return new BodyTurn(line, this.#now)
  }

  #lineOf({ id }: Organization): Line {
    return this.#lines.find(id) ?? this.#lines.add(id, new Line(this.#now, this.#after))
  }
}

/** The turn of one large body. */
export class BodyTurn {
  readonly #line: Line
  readonly #now: () => number
  #workMs = 0

  constructor(line: Line, now: () => number) {
    this.#line = line
    this.#now = now
  }

  /** Runs a step of the work, and lets other requests run after it. */
  async run<Value>(step: () => Value): Promise<Value> {
    const startedAt = this.#now()
    try {
      return step()
    } finally {
      this.#workMs += this.#now() - startedAt
      await nextTurn()
    }
  }

  /**
   * Ends the turn. The work that follows in this turn of the event loop counts as well, and so does `workMs` of other work.
   */
  end(workMs = 0): void {
    const startedAt = this.#now()
    void nextTurn().then(() => this.#line.rest(this.#workMs + workMs + this.#now() - startedAt))
  }
}

/** The large bodies of one organization. */
class Line {
  readonly #now: () => number
  readonly #after: RestTimer
  readonly #bytes: TokenBucket
  readonly #waiting: (() => void)[] = []
  #busy = false

  constructor(now: () => number, after: RestTimer) {
    this.#now = now
    this.#after = after
    this.#bytes = new TokenBucket(bytesPerMinute, now())
  }

  takeBytes(bytes: number): void {
    this.#requireRoom()
    const waitMs = this.#bytes.take(bytes, this.#now())
    if (waitMs > 0) throw tooManyBodyBytes(bytesPerMinute, waitMs)
  }

  async enter(signal: AbortLike): Promise<void> {
    if (signal.aborted) throw abortReason(signal)
    if (!this.#busy) {
      this.#busy = true
      return
    }
    this.#requireRoom()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    const leave = (error: Error) => {
      const index = this.#waiting.indexOf(resolve)
      if (index >= 0) this.#waiting.splice(index, 1)
      reject(error)
    }
    const timer = setTimeout(() => leave(tooManyLargeBodies(maxWaiting)), maxWaitMs)
    const forget = onAbort(signal, () => leave(abortReason(signal)))
    try {
      await promise
    } finally {
      clearTimeout(timer)
      forget()
    }
  }

  /** Lets the next body in after the rest. */
  rest(workMs: number): void {
    this.#after(Math.min(workMs, maxRestMs), () => this.#next())
  }

  isIdle(): boolean {
    return !this.#busy && this.#bytes.resetMs(this.#now()) === 0
  }

  #next(): void {
    const enter = this.#waiting.shift()
    this.#busy = enter !== undefined
    enter?.()
  }

  #requireRoom(): void {
    if (this.#waiting.length >= maxWaiting) throw tooManyLargeBodies(maxWaiting)
  }
}

/** 429: as many large bodies of the organization wait as may, or one has waited too long. */
function tooManyLargeBodies(limit: number): Error {
  const message = `Rate limit exceeded: too many large request bodies at once for the organization (limit: ${limit} waiting). Try again in 1 second.`
  return rateLimited('requests', message, 1000)
}

/** 429: the large bodies of the organization have too many bytes, and for `waitMs` will not have few enough. */
function tooManyBodyBytes(limit: number, waitMs: number): Error {
  const reached = `Rate limit exceeded: too many bytes in large request bodies per minute for the organization (limit: ${limit}).`
  return rateLimited('requests', `${reached} Try again in ${waitMs / 1000} seconds.`, waitMs)
}

import { badRequest, serviceUnavailable } from '../../lib/errors/errors.ts'
import { nextTurn, wait } from '../../lib/time.ts'

/** The bounds of the reports of usage. */
export type ReportLimits = {
  /** The most groups of one report. */
  readonly maxGroups: number
  /** How long one of them may take, and wait before, in milliseconds. */
  readonly maxReportMs: number
  /** After this time, a report pauses for as long as it works, so that it takes at most half of a processor. */
  readonly eagerMs: number
  /** Creates the error for a report that takes longer. */
  timeoutError(): Error
}

/** The limits of reports that clients of a server read. */
export const clientReports: ReportLimits = {
  maxGroups: 10_000,
  maxReportMs: 10_000,
  eagerMs: 200,
  timeoutError: () =>
    serviceUnavailable(
      'The usage report has too many requests to be read in time. Request a shorter period, or group by fewer properties.',
    ),
}
/** Those of the operator, in a process of their own, in which no other request waits for a pause. */
export const operatorReports: ReportLimits = {
  maxGroups: 100_000,
  maxReportMs: 5 * 60_000,
  eagerMs: Infinity,
  timeoutError: () =>
    new Error(
      'The report took longer than 5 minutes. Report a shorter period with --since, or one organization with --org.',
    ),
}

/** How many reports may be read or wait at once, and how many of them may be of one owner. */
export const maxReports = 64
export const maxOwnReports = 16
/** Of these, as many are read at once: each occupies a processor of PostgreSQL, or the one of this process. */
const maxRunning = 2

/** One report that is being read. */
export type ReportRun = {
  /** The milliseconds that are left for it. */
  readonly timeoutMs: number
  /** Creates the error for a report that takes longer. */
  timeoutError(): Error
  /** Runs a step in a turn of the event loop of its own; other requests wait for one step only. Throws if it is too late. */
  step<Value>(work: () => Value): Promise<Value>
}

type ReportTimes = Omit<ReportLimits, 'maxGroups'>

type Waiter = { readonly owner: string; readonly start: () => void }

/**
 * Limits the reports that are read at once, to one for each owner: no organization delays the reports of others. They wait
 * in their order, for as long as one report may take.
 */
export class ReportSlots {
  readonly #times: ReportTimes
  /** The owners of the reports that are being read. */
  readonly #running = new Set<string>()
  readonly #waiting = new Set<Waiter>()

  constructor(times: ReportTimes) {
    this.#times = times
  }

  /** Reads a report; rejects with 503 if too many are waiting or it waited too long, and if it takes too long. */
  async run<Value>(owner: string, read: (run: ReportRun) => Promise<Value>): Promise<Value> {
    const { maxReportMs, timeoutError } = this.#times
    const deadline = performance.now() + maxReportMs
    await this.#enter(owner)
    try {
      const timeoutMs = deadline - performance.now()
      if (timeoutMs <= 0) throw timeoutError()
      return await read({ timeoutMs, timeoutError, step: createStep(deadline, this.#times) })
    } finally {
      this.#running.delete(owner)
      this.#startNext()
    }
  }

  async #enter(owner: string): Promise<void> {
    if (this.#canStart(owner)) {
      this.#running.add(owner)
      return
    }
    const own = [...this.#waiting].filter((waiter) => waiter.owner === owner).length
    if (this.#running.size + this.#waiting.size >= maxReports || own >= maxOwnReports - 1)
      throw tooManyReports()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { owner, start: resolve }
    this.#waiting.add(waiter)
    const timer = setTimeout(() => {
      // Not if it was just started.
      if (this.#waiting.delete(waiter)) reject(tooManyReports())
    }, this.#times.maxReportMs)
    await promise.finally(() => clearTimeout(timer))
  }

  #canStart(owner: string): boolean {
    return this.#running.size < maxRunning && !this.#running.has(owner)
  }

  #startNext(): void {
    for (const waiter of this.#waiting) {
      if (!this.#canStart(waiter.owner)) continue
      this.#waiting.delete(waiter)
      this.#running.add(waiter.owner)
      waiter.start()
      return
    }
  }
}

function createStep(deadline: number, { eagerMs, timeoutError }: ReportTimes): ReportRun['step'] {
  let workedMs = 0
  return async (work) => {
    if (performance.now() > deadline) throw timeoutError()
    await nextTurn()
    const startedAt = performance.now()
    const value = work()
    const tookMs = performance.now() - startedAt
    workedMs += tookMs
    if (workedMs > eagerMs) await wait(tookMs, never)
    return value
  }
}

const never = new AbortController().signal

/** The 400 for a report with more groups than it may have. */
export function tooManyGroups(maxGroups: number): Error {
  return badRequest(
    `The report would have more than ${maxGroups.toLocaleString('en-US')} results. Request fewer buckets, add a filter, or group by fewer properties.`,
    'invalid_value',
    'group_by',
  )
}

/** The 503 for more than `maxReports` at once. */
function tooManyReports(): Error {
  return serviceUnavailable('Too many usage reports are being read. Try again later.')
}

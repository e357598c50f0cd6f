import { maxReportMs, maxReports, reportTooLong, tooManyReports } from '../../common/report-limits.ts'

/** The reports that the server works on at once: each occupies one of its processors, and a connection. */
const maxRunning = 2

/** Limits the reports that run at once; others wait in their order, for as long as one report may take. */
export class ReportSlots {
  #running = 0
  readonly #waiting = new Set<() => void>()

  /** Runs a report, which may take `timeoutMs`; rejects with 503 if too many are waiting, or it waited too long. */
  async run<Value>(report: (timeoutMs: number) => Promise<Value>): Promise<Value> {
    const startedAt = performance.now()
    await this.#enter()
    try {
      const timeoutMs = maxReportMs - (performance.now() - startedAt)
      if (timeoutMs <= 0) throw reportTooLong()
      return await report(timeoutMs)
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < maxRunning) {
      this.#running++
      return
    }
    if (this.#running + this.#waiting.size >= maxReports) throw tooManyReports()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    const timer = setTimeout(() => {
      // Not if it was just given a slot.
      if (this.#waiting.delete(resolve)) reject(tooManyReports())
    }, maxReportMs)
    await promise.finally(() => clearTimeout(timer))
  }

  /** The next one takes over the slot. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#running--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

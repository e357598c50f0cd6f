import { nextTurn, wait } from '../../../lib/time.ts'
import type { RunStep } from '../../common/usage-groups.ts'
import { maxReportMs, maxReports, reportTooLong, tooManyReports } from '../../common/report-limits.ts'

/** After this time, a report pauses for as long as it works, so that it takes at most half of a processor. */
const eagerMs = 200

/**
 * Lets reports read step by step: each step in a turn of the event loop of its own, and those of several reports in
 * turns, so that however many are read, other requests wait for one step only.
 */
export class ReportTurns {
  #reports = 0
  #last: Promise<unknown> = Promise.resolve()

  /** Runs one report, whose steps it passes to `step`; rejects with 503 if there are too many, or it takes too long. */
  async run<Value>(report: (step: RunStep) => Promise<Value>): Promise<Value> {
    if (this.#reports >= maxReports) throw tooManyReports()
    this.#reports++
    try {
      return await report(this.#createStep())
    } finally {
      this.#reports--
    }
  }

  #createStep(): RunStep {
    const deadline = performance.now() + maxReportMs
    let workedMs = 0
    return async (work) => {
      if (performance.now() > deadline) throw reportTooLong()
      await this.#takeTurn()
      const startedAt = performance.now()
      const value = work()
      const tookMs = performance.now() - startedAt
      workedMs += tookMs
      if (workedMs > eagerMs) await wait(tookMs, never)
      return value
    }
  }

  #takeTurn(): Promise<void> {
    const turn = this.#last.then(nextTurn)
    this.#last = turn
    return turn
  }
}

const never = new AbortController().signal

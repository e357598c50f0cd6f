import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { Readiness } from '../../ports/health.ts'
import { outageMessage } from '../postgres-errors.ts'
import type { Health } from './health.ts'

/** The time for which a commit proves that the database works; longer than the time between two probes. */
const commitTrustMs = 4000
/** The time for which the result of a probe is reused, however often clients ask. */
const probeTrustMs = 250

/** See `Readiness`. */
export function createReadiness(health: Health): Readiness {
  let last: { readonly result: Promise<void>; readonly startedAt: number } | undefined

  function ready(): Promise<void> | undefined {
    const unavailable = health.unavailableError()
    if (unavailable) throw unavailable
    return health.age() < commitTrustMs ? undefined : health.probe()
  }

  async function examine(): Promise<void> {
    try {
      await health.probe()
    } catch (error) {
      const message = outageMessage(error)
      throw message === undefined ? error : serviceUnavailable(message, error)
    }
  }

  return {
    ready,
    probe() {
      if (last === undefined || performance.now() - last.startedAt > probeTrustMs)
        last = { result: examine(), startedAt: performance.now() }
      return last.result
    },
  }
}

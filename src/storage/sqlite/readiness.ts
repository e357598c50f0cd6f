import { serviceUnavailable } from '../../lib/errors/errors.ts'
import type { Readiness } from '../ports/health.ts'
import type { Database } from './connection/database.ts'
import { type Health, prepareWriteProbe } from './health.ts'
import { outageMessage } from './sqlite-errors.ts'
import type { Writer } from './writer.ts'

/**
 * The time for which a commit proves that the database works, and for which it proves that no lock is held: under load,
 * the usage of requests is committed more often.
 */
const commitTrustMs = 1000
export const lockTrustMs = 100
/** The time for which the result of a probe is reused, however often clients ask. */
export const probeTrustMs = 250

/** See `Readiness`. */
export function createReadiness(database: Database, writer: Writer, health: Health): Readiness {
  const isLocked = prepareLockCheck(database)
  const writeProbe = prepareWriteProbe(database)

  function ready(): Promise<void> | undefined {
    const unavailable = health.unavailableError()
    if (unavailable) throw unavailable
    const age = health.age()
    if (age < lockTrustMs) return undefined
    return age > commitTrustMs || isLocked() ? writer.write(writeProbe) : undefined
  }

  async function examine(): Promise<void> {
    try {
      if (health.unavailableError()) health.retry()
      await writer.write(writeProbe)
    } catch (error) {
      const message = outageMessage(error)
      throw message === undefined ? error : serviceUnavailable(message, error)
    }
  }

  return { ready, probe: createShared(examine, () => health.unavailableError() === undefined) }
}

/** Shares one run of the work between all concurrent callers, and for a while after it if `isHealthy` stays the same. */
function createShared(work: () => Promise<void>, isHealthy: () => boolean): () => Promise<void> {
  let last: { readonly result: Promise<void>; settled?: { readonly at: number; readonly healthy: boolean } }

  function isCurrent(): boolean {
    if (last === undefined) return false
    const { settled } = last
    if (settled === undefined) return true
    return performance.now() - settled.at < probeTrustMs && isHealthy() === settled.healthy
  }

  return () => {
    if (!isCurrent()) {
      const started: typeof last = { result: work() }
      const settle = () => void (started.settled = { at: performance.now(), healthy: isHealthy() })
      started.result.then(settle, settle)
      last = started
    }
    return last.result
  }
}

/** Takes the write lock and releases it, without touching the disk. */
function prepareLockCheck({ sqlite }: Database): () => boolean {
  const begin = sqlite.prepare('BEGIN IMMEDIATE')
  const end = sqlite.prepare('ROLLBACK')
  return () => {
    try {
      begin.run()
    } catch {
      return true
    }
    end.run()
    return false
  }
}

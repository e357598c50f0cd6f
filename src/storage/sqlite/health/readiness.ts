import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { Readiness } from '../../ports/health.ts'
import type { Database } from '../connection/database.ts'
import { outageSentence } from '../sqlite-errors.ts'
import type { Writer } from '../writer/writer.ts'
import { type Health, prepareWriteProbe } from './health.ts'

/** Milliseconds for which a commit proves that the next one will succeed, but for a lock; and for that, too. */
const longestTrust = 1000
const unlockedTrust = 5
/** Milliseconds for which the result of a write is returned again: whoever asks, and how often, is not known. */
export const examinedTrust = 250

export function createReadiness(database: Database, writer: Writer, health: Health): Readiness {
  const isLocked = prepareLockCheck(database)
  const probe = prepareWriteProbe(database)

  function ready(): Promise<void> | undefined {
    const refusal = health.refusal()
    if (refusal) throw refusal
    const age = health.age()
    if (age < unlockedTrust) return undefined
    return age > longestTrust || isLocked() ? writer.write(probe) : undefined
  }

  async function examine(): Promise<void> {
    try {
      if (health.refusal()) health.retry()
      await writer.write(probe)
    } catch (error) {
      const sentence = outageSentence(error)
      throw sentence === undefined ? error : serviceUnavailable(sentence, error)
    }
  }

  return { ready, examine: createShared(examine, () => health.refusal() === undefined) }
}

/** The work, shared by all who ask while it is under way, and for a while after it while `isWell` stays the same. */
function createShared(work: () => Promise<void>, isWell: () => boolean): () => Promise<void> {
  let last: { readonly result: Promise<void>; settled?: { readonly at: number; readonly well: boolean } }

  function holds(): boolean {
    if (last === undefined) return false
    const { settled } = last
    if (settled === undefined) return true
    return performance.now() - settled.at < examinedTrust && isWell() === settled.well
  }

  return () => {
    if (!holds()) {
      const begun: typeof last = { result: work() }
      const settle = () => void (begun.settled = { at: performance.now(), well: isWell() })
      begun.result.then(settle, settle)
      last = begun
    }
    return last.result
  }
}

/** Takes the lock of a transaction and gives it back, which the disk does not hear of. */
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

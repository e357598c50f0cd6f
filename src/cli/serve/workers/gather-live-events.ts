import type { LiveEvent } from '../../../observability/live-event.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A worker that does not answer within this time has no events; its reader misses those that it sends later. */
const answerTimeoutMs = 3000

/** Returns a function that collects the live requests of all other workers for a reader of one of them. */
export function createLiveEventsGatherer(
  pool: () => WorkerPool,
): (asking: WorkerProcess, reader: string) => Promise<readonly LiveEvent[]> {
  return async (asking, reader) => {
    const others = pool()
      .ready()
      .filter((worker) => worker !== asking)
    const answers = others.map((worker) =>
      worker.call('liveEvents', reader, answerTimeoutMs).catch((): readonly LiveEvent[] => []),
    )
    return (await Promise.all(answers)).flat()
  }
}

import { percentilesOf } from '../../src/cli/bench/load.ts'
import { send } from './send.ts'
import type { Job, Measured } from './job.ts'
import { measureCost } from './process-cost.ts'

/** The times of a single caller need no more milliseconds, however long the rest is measured. */
const maxAloneMs = 10_000

/** First one connection, for the times of a caller who waits; then many, for the costs. */
export async function runClosed(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { duration, ending, load, warmUp } = job
  if (load.type !== 'closed') throw new Error('This load is another one.')
  const { connections, unitsPerRequest } = load
  const target = { url, request, ending }
  await send({ ...target, connections, durationMs: warmUp })
  const alone = await send({ ...target, connections: 1, durationMs: Math.min(duration, maxAloneMs) })
  const { result, seconds, cost } = await measureCost(
    job,
    () => send({ ...target, connections, durationMs: duration }),
    ({ latencies: { length } }) => ({ requests: length, units: length * unitsPerRequest }),
  )
  const requests = result.latencies.length
  return {
    ...cost,
    latency: percentilesOf(alone.latencies),
    busyLatency: percentilesOf(result.latencies),
    firstToken: percentilesOf(alone.firstTokenLatencies),
    gap: null,
    perStream: null,
    rate: (requests * unitsPerRequest) / seconds,
    requests,
  }
}

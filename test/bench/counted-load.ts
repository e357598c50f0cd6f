import { percentilesOf } from '../../src/cli/bench/load.ts'
import { send } from './send.ts'
import type { Job, Measured } from './job.ts'
import { measureCost } from './process-cost.ts'

/** A fixed number of requests over some connections, however long they take. */
export async function runCounted(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { ending, load } = job
  if (load.type !== 'counted') throw new Error('This load is another one.')
  const { connections, requests } = load
  const { result, seconds, cost } = await measureCost(
    job,
    () => send({ url, request, ending, connections, maxRequests: requests, durationMs: Infinity }),
    () => ({ requests, units: requests }),
  )
  return {
    ...cost,
    latency: null,
    busyLatency: percentilesOf(result.latencies),
    firstToken: null,
    gap: null,
    perStream: null,
    rate: requests / seconds,
    requests,
  }
}

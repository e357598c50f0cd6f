import { percentilesOf } from '../../src/cli/bench/figures.ts'
import { send } from '../../src/cli/bench/load.ts'
import { processorTime, usedBy } from '../../src/cli/bench/process.ts'
import type { Job, Measured } from './job.ts'
import { forgetPeak, peakOf, writtenBy } from './memory.ts'

/** First one connection, for the times of a caller who waits; then many, for the costs. */
export async function runClosed(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { duration, ending, pid, load } = job
  if (load.type !== 'closed') throw new Error('This load is another one.')
  await send({ url, request, connections: load.connections, duration: job.warmUp, ending })
  const alone = await send({ url, request, connections: 1, duration, ending })
  if (pid) forgetPeak(pid)
  const before = pid ? { used: usedBy(pid), written: writtenBy(pid) } : undefined
  const startedAt = performance.now()
  const { latencies } = await send({ url, request, connections: load.connections, duration, ending })
  const seconds = (performance.now() - startedAt) / 1000
  const after = pid ? { used: usedBy(pid), written: writtenBy(pid) } : undefined
  const units = latencies.length * load.unitsPerRequest
  return {
    cpu: before?.used && after?.used ? processorTime(before.used, after.used) / units : null,
    latency: percentilesOf(alone.latencies),
    firstToken: percentilesOf(alone.firsts),
    gap: null,
    rate: units / seconds,
    peak: pid ? peakOf(pid) : null,
    written: before && after ? (after.written - before.written) / latencies.length : null,
    requests: latencies.length,
  }
}

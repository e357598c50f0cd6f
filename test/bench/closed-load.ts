import { percentilesOf } from '../../src/cli/bench/statistics.ts'
import { send } from '../../src/cli/bench/load.ts'
import { processorTime, readProcessUsage } from '../../src/cli/bench/processor-time.ts'
import type { Job, Measured } from './job.ts'
import { forgetPeak, peakOf, writtenBy } from './memory.ts'

/** First one connection, for the times of a caller who waits; then many, for the costs. */
export async function runClosed(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { duration, ending, pid, load } = job
  if (load.type !== 'closed') throw new Error('This load is another one.')
  await send({ url, request, connections: load.connections, durationMs: job.warmUp, ending })
  const alone = await send({ url, request, connections: 1, durationMs: duration, ending })
  if (pid) forgetPeak(pid)
  const before = pid ? { used: readProcessUsage(pid), written: writtenBy(pid) } : undefined
  const startedAt = performance.now()
  const { latencies } = await send({
    url,
    request,
    connections: load.connections,
    durationMs: duration,
    ending,
  })
  const seconds = (performance.now() - startedAt) / 1000
  const after = pid ? { used: readProcessUsage(pid), written: writtenBy(pid) } : undefined
  const units = latencies.length * load.unitsPerRequest
  return {
    cpu: before?.used && after?.used ? processorTime(before.used, after.used) / units : null,
    latency: percentilesOf(alone.latencies),
    firstToken: percentilesOf(alone.firstTokenLatencies),
    gap: null,
    rate: units / seconds,
    peak: pid ? peakOf(pid) : null,
    written: before && after ? (after.written - before.written) / latencies.length : null,
    requests: latencies.length,
  }
}

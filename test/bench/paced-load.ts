import { type Connection, openConnection } from '../../src/cli/bench/connection.ts'
import { percentilesOf } from '../../src/cli/bench/statistics.ts'
import { assertSuccessful } from '../../src/cli/bench/load.ts'
import { processorTime, type ProcessUsage, readProcessUsage } from '../../src/cli/bench/processor-time.ts'
import type { Job, Measured } from './job.ts'
import { forgetPeak, peakOf, writtenBy } from './memory.ts'

/** Connections that are made in one go; more at once would wait in the queue of the listener. */
const batch = 200

type Moment = { readonly at: number; readonly chunks: number; readonly used: ProcessUsage | undefined }

/**
 * Opens all streams and reads them to their end. The costs are those from when each has had some chunks to when the
 * first of them ends: between them nothing happens but chunks.
 */
export async function runPaced(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { pid, load, ending } = job
  if (load.type !== 'paced') throw new Error('This load is another one.')
  const pace = createPace(load.streams, load.chunks, pid)
  if (pid) forgetPeak(pid)
  const writtenBefore = pid ? writtenBy(pid) : 0
  const connections = await openAll(url, load.streams)
  const replies = await Promise.all(
    connections.map((connection) => connection.exchange(request, pace.listener())),
  )
  for (const reply of replies) assertSuccessful(reply, ending)
  for (const connection of connections) connection.close()
  return {
    ...pace.measured(),
    latency: null,
    firstToken: percentilesOf(replies.map(({ startedAt, firstAt }) => firstAt - startedAt)),
    peak: pid ? peakOf(pid) : null,
    written: pid ? (writtenBy(pid) - writtenBefore) / replies.length : null,
    requests: replies.length,
  }
}

async function openAll(url: URL, count: number): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < count) {
    const room = Math.min(batch, count - connections.length)
    connections.push(...(await Promise.all(Array.from({ length: room }, () => openConnection(url)))))
  }
  return connections
}

/** Counts the chunks of all streams, and takes the time and the costs when all have begun and when one is to end. */
function createPace(streams: number, chunks: number, pid: number | null) {
  const gaps: number[] = []
  let counted = 0
  let begun = 0
  let from: Moment | undefined
  let to: Moment | undefined
  const now = (at: number): Moment => ({ at, chunks: counted, used: pid ? readProcessUsage(pid) : undefined })

  function listener() {
    let heard = 0
    let last = 0
    return (piece: Buffer, at: number) => {
      const found = framesIn(piece)
      if (found === 0) return
      if (from && !to) gaps.push(at - last)
      if (heard < 4 && heard + found >= 4 && ++begun === streams) from = now(at)
      heard += found
      counted += found
      last = at
      if (heard >= chunks && from && !to) to = now(at)
    }
  }

  function measured(): Pick<Measured, 'cpu' | 'gap' | 'rate'> {
    if (!from || !to || to.chunks <= from.chunks) throw new Error('The streams were not all open at once.')
    const chunks = to.chunks - from.chunks
    return {
      cpu: from.used && to.used ? processorTime(from.used, to.used) / chunks : null,
      gap: percentilesOf(gaps),
      rate: chunks / ((to.at - from.at) / 1000),
    }
  }

  return { listener, measured }
}

function framesIn(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf('\n\n'); at >= 0; at = piece.indexOf('\n\n', at + 2)) count++
  return count
}

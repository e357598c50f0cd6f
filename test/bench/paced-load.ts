import { type Connection, openConnection } from './connection.ts'
import { percentilesOf } from '../../src/cli/bench/load.ts'
import { assertSuccessful } from './send.ts'
import type { Job, Measured } from './job.ts'
import { residentOf } from './memory.ts'
import { type CostReading, cpuBetween, measureCost, readCost } from './process-cost.ts'
import { countsBetween } from './process-counts.ts'

/** Connections that are made in one go; more at once would wait in the queue of the listener. */
const batch = 200

type Moment = {
  readonly at: number
  readonly chunks: number
  readonly cost: CostReading | undefined
  readonly resident: number
}

/**
 * Opens all streams and reads them to their end. The costs are those from when each has had some chunks to when the
 * first of them ends: between them nothing happens but chunks. System calls alone are counted from the first request
 * to the last chunk.
 */
export async function runPaced(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { pid, load, ending } = job
  if (load.type !== 'paced') throw new Error('This load is another one.')
  const { streams, chunks } = load
  const pace = createPace(streams, chunks, pid)
  const connections = await openAll(url, streams)
  const residentBefore = pid ? residentOf(pid) : 0
  const exchanges = () =>
    Promise.all(connections.map((connection) => connection.exchange(request, pace.listener())))
  const { result, cost } = await measureCost(job, exchanges, () => ({
    requests: streams,
    units: streams * chunks,
  }))
  for (const reply of result) assertSuccessful(reply, ending)
  for (const connection of connections) connection.close()
  const measured = pace.measured(residentBefore, cost.counts?.syscalls ?? null)
  return {
    ...cost,
    ...measured,
    latency: null,
    busyLatency: null,
    firstToken: percentilesOf(result.map(({ startedAt, firstAt }) => firstAt - startedAt)),
    requests: streams,
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
  const now = (at: number): Moment => ({
    at,
    chunks: counted,
    cost: pid ? readCost(pid) : undefined,
    resident: pid ? residentOf(pid) : 0,
  })

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

  function measured(
    residentBefore: number,
    syscalls: number | null,
  ): Pick<Measured, 'cpu' | 'counts' | 'gap' | 'perStream' | 'rate'> {
    if (!from || !to || to.chunks <= from.chunks) throw new Error('The streams were not all open at once.')
    const chunks = to.chunks - from.chunks
    const costs = from.cost && to.cost ? ([from.cost, to.cost] as const) : undefined
    return {
      cpu: costs ? cpuBetween(...costs, chunks) : null,
      counts: costs
        ? { ...countsBetween(costs[0].counters, costs[1].counters, chunks, null), syscalls }
        : null,
      gap: percentilesOf(gaps),
      perStream: costs ? (to.resident - residentBefore) / streams : null,
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

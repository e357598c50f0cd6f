import { type Connection, openConnection, type Reply } from './connection.ts'
import { percentilesOf } from '../../src/cli/bench/load.ts'
import { assertSuccessful, send } from './send.ts'
import type { Job, Measured } from './job.ts'
import { measureCost } from './process-cost.ts'

/**
 * Requests that come at a pace of their own, as those of callers do who know nothing of each other. A proxy that is
 * always busy has its next request at hand; one that waits for it must wake up first, and its code is cold.
 */
export async function runSteady(url: URL, request: Uint8Array, job: Job): Promise<Measured> {
  const { duration, ending, load } = job
  if (load.type !== 'steady') throw new Error('This load is another one.')
  await send({ url, request, connections: 16, durationMs: job.warmUp, ending })
  // As many as requests in a second: one that finds none free is not sent, and then nothing is measured.
  const idle = await Promise.all(Array.from({ length: load.rate }, () => openConnection(url)))
  const all = [...idle]
  const { result, seconds, cost } = await measureCost(
    job,
    () => sendSteadily(idle, request, load.rate, duration),
    ({ length }) => ({ requests: length, units: length }),
  )
  for (const connection of all) connection.close()
  for (const reply of result) assertSuccessful(reply, ending)
  return {
    ...cost,
    latency: percentilesOf(result.map(({ startedAt, endedAt }) => endedAt - startedAt)),
    busyLatency: null,
    firstToken: percentilesOf(result.map(({ startedAt, firstAt }) => firstAt - startedAt)),
    gap: null,
    perStream: null,
    rate: result.length / seconds,
    requests: result.length,
  }
}

/** Sends each when it is due, over whichever connection is free, and resolves with all replies. */
async function sendSteadily(
  idle: Connection[],
  request: Uint8Array,
  rate: number,
  duration: number,
): Promise<readonly Reply[]> {
  const replies: Promise<Reply>[] = []
  const startedAt = performance.now()
  for (let now = startedAt; now < startedAt + duration; now = performance.now()) {
    while (replies.length < ((now - startedAt) / 1000) * rate) {
      const reply = sendOver(idle, request)
      // Failures are reported at the end; until then the promise must not count as unhandled.
      reply.catch(() => {})
      replies.push(reply)
    }
    await Bun.sleep(1000 / rate)
  }
  return Promise.all(replies)
}

async function sendOver(idle: Connection[], request: Uint8Array): Promise<Reply> {
  // The one that has waited for the longest: in a minute, servers close those that are never used.
  const connection = idle.shift()
  if (connection === undefined) throw new Error('Replies came too slowly for this pace.')
  const reply = await connection.exchange(request)
  idle.push(connection)
  return reply
}

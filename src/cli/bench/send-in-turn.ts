import { type Connection, openConnection } from './connection.ts'
import { assertSuccessful, type Load, type LoadResult } from './load.ts'

type Turn = Pick<Load, 'url' | 'request' | 'ending'>
type Bounds = Required<Pick<Load, 'durationMs' | 'maxRequests'>>

/**
 * Sends one request after the other, to each address in turn, until the duration or the number of requests is over.
 * Resolves with the results by address; rejects at the first reply that failed or is incomplete.
 */
export async function sendInTurn(
  turns: readonly Turn[],
  { durationMs, maxRequests }: Bounds,
): Promise<readonly LoadResult[]> {
  const targets = await openTargets(turns)
  const endsAt = performance.now() + durationMs
  try {
    // Every address gets a request, however short the duration is.
    for (let sent = 0; sent < targets.length || (sent < maxRequests && performance.now() < endsAt); sent++) {
      const target = targets[sent % targets.length]
      if (target !== undefined) await sendOne(target)
    }
  } finally {
    for (const { connection } of targets) connection.close()
  }
  return targets
}

type Target = Turn & {
  readonly connection: Connection
  readonly latencies: number[]
  readonly firstTokenLatencies: number[]
}

async function openTargets(turns: readonly Turn[]): Promise<readonly Target[]> {
  const opened = await Promise.allSettled(turns.map(({ url }) => openConnection(url)))
  const failed = opened.find((result) => result.status === 'rejected')
  if (failed === undefined)
    return opened.flatMap((result, index) => {
      const turn = turns[index]
      if (turn === undefined || result.status === 'rejected') return []
      return [{ ...turn, connection: result.value, latencies: [], firstTokenLatencies: [] }]
    })
  for (const result of opened) if (result.status === 'fulfilled') result.value.close()
  throw failed.reason
}

async function sendOne({
  connection,
  request,
  ending,
  latencies,
  firstTokenLatencies,
}: Target): Promise<void> {
  const reply = await connection.exchange(request)
  assertSuccessful(reply, ending)
  latencies.push(reply.endedAt - reply.startedAt)
  firstTokenLatencies.push(reply.firstAt - reply.startedAt)
}

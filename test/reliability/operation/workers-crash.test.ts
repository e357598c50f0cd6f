import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { type readPieces, readPieces as piecesOf } from '../../support/body-reader.ts'
import { chatOutput, chunks, doneFrame, framesOf, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { createUpstream } from '../../support/upstream.ts'
import {
  canRunWorkers,
  isRunning,
  connectionsTo,
  startWorkers,
  type WeirWorkers,
} from './support/weir-workers.ts'

const requests = 'weir_requests_total{method="POST",path="/v1/chat/completions",status="200"}'

function settingsFor(provider: string) {
  return {
    providers: { acme: { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
  }
}

/** A stream of the provider that waits in the middle until the gate opens. */
function gatedStream(gate: Promise<void>) {
  const frames = framesOf(chatOutput())
  return chunks([...frames.slice(0, 2), gate, ...frames.slice(2)])
}

/** Opens streams on connections of their own, and resolves when all of them have begun. */
async function openStreams(weir: WeirWorkers, count: number): Promise<ReturnType<typeof readPieces>[]> {
  const bodies = await Promise.all(
    Array.from({ length: count }, () => weir.chat({ ...chatRequest, stream: true })),
  )
  const readers = bodies.map(piecesOf)
  await Promise.all(readers.map((reader) => reader.until('It is ')))
  return readers
}

test.if(canRunWorkers)('a worker that is killed ends only its own streams and is replaced', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await createUpstream(gatedStream(gate.promise))
  await using weir = await startWorkers(2, { settings: settingsFor(upstream.url), folder: temporaryFolder() })
  const [victim = 0, survivor = 0] = weir.workers()
  const readers = await openStreams(weir, 40)
  const survivors = connectionsTo(Number(new URL(upstream.url).port), survivor)
  expect(survivors).toBeGreaterThan(0)
  expect(survivors).toBeLessThan(40)

  process.kill(victim, 'SIGKILL')
  await weir.logged(/A worker has ended unexpectedly.*"signal":"SIGKILL"/)
  gate.resolve()
  const rests = await Promise.all(readers.map((reader) => reader.rest().catch(() => 'broken')))
  expect(rests.filter((rest) => rest.endsWith(doneFrame))).toHaveLength(survivors)

  upstream.respondWith(jsonReply())
  await waitUntil(() => weir.workers().length === 2, 'the worker is replaced')
  expect(weir.workers()).toContain(survivor)
  expect(weir.workers()).not.toContain(victim)
  await waitUntil(async () => (await weir.metric('weir_workers')) === 2, 'the new worker is ready')
  const replies = await Promise.all(Array.from({ length: 20 }, () => weir.chat(chatRequest)))
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(await weir.metric('weir_worker_restarts_total')).toBe(1)
})

test.if(canRunWorkers)('the metrics of any worker add up, also after one was killed', async () => {
  await using upstream = await createUpstream(jsonReply())
  await using weir = await startWorkers(3, { settings: settingsFor(upstream.url), folder: temporaryFolder() })
  const ask = (count: number) => Promise.all(Array.from({ length: count }, () => weir.chat(chatRequest)))
  await ask(30)
  // A reply is counted after it was sent.
  await waitUntil(async () => (await weir.metric(requests)) === 30, '30 requests are counted')
  const scrapes = await Promise.all(Array.from({ length: 10 }, () => weir.metric(requests)))
  expect(scrapes).toEqual(Array.from({ length: 10 }, () => 30))
  expect(await weir.metric('gen_ai_client_token_usage_count')).toBe(0)

  process.kill(weir.workers()[0] ?? 0, 'SIGKILL')
  await weir.logged(/A worker has ended unexpectedly/)
  expect(await weir.metric(requests)).toBe(30)
  await waitUntil(async () => (await weir.metric('weir_workers')) === 3, 'the new worker is ready')
  await ask(10)
  await waitUntil(async () => (await weir.metric(requests)) === 40, '40 requests are counted')
})

test.if(canRunWorkers)(
  'workers whose supervisor was killed complete their streams and end, and others can start on their database',
  async () => {
    const gate = Promise.withResolvers<void>()
    await using upstream = await createUpstream(gatedStream(gate.promise))
    const options = { settings: settingsFor(upstream.url), folder: temporaryFolder() }
    await using weir = await startWorkers(2, options)
    const workers = weir.workers()
    const readers = await openStreams(weir, 4)
    process.kill(weir.pid, 'SIGKILL')
    await weir.exited
    gate.resolve()
    for (const reader of readers) expect(await reader.rest()).toEndWith(doneFrame)
    await waitUntil(() => !workers.some(isRunning), 'the workers have ended')
    upstream.respondWith(jsonReply())
    await using next = await startWorkers(2, options, weir.database)
    expect((await next.chat(chatRequest)).status).toBe(200)
  },
)

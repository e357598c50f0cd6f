import { expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { firstChunks, lastChunks } from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { readEvents } from '../../support/responses.ts'
import { hang, json, type Script, silence } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { randomFrom } from '../../unit/providers/protocols/support/random.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { testSeed } from '../../support/seed.ts'

const lives = 4
const clients = 12
/** The gateway is killed within so many milliseconds of a life, or later if it has not acknowledged a run a client. */
const maxLife = 300

type Acknowledged = { readonly id: string; readonly request: string; last: ResponseObject }

test('after kills at any moment no acknowledged run is lost, left active, or charged twice', async () => {
  const random = randomFrom(testSeed)
  await using upstream = await createUpstream(streamReply())
  await using gateway = await createGatewayProcess(upstream.url, pricing, { background: { concurrency: 16 } })
  await gateway.books.fund('acme', '5')
  const requesting = asker(gateway, await gateway.books.keyOf('acme'))
  const runs: Acknowledged[] = []
  await gateway.start()
  await addOneOfEachEnd(requesting, runs, (script) => upstream.respondWith(script))
  await gateway.kill()
  upstream.respondWith(randomProvider(random))
  for (let life = 0; life < lives; life++) {
    await gateway.start()
    const dying = new AbortController()
    const enough = runs.length + clients + 1
    const all = Array.from({ length: clients }, () => live(requesting, runs, random, dying.signal))
    await Bun.sleep(50 + random() * maxLife)
    await waitUntil(() => runs.length >= enough, 'there are runs to lose')
    await gateway.kill()
    dying.abort()
    await Promise.all(all)
    await gateway.books.expectConsistent()
  }
  upstream.respondWith(streamReply())
  await gateway.start()
  const unfinished = () =>
    gateway.books.rows("SELECT id FROM responses WHERE status IN ('queued', 'in_progress')")
  await waitUntil(async () => (await unfinished()).length === 0, 'the end of every run')
  await gateway.books.waitForUsage(0)
  const statuses: Record<string, number> = {}
  for (const run of runs) {
    const { status } = await expectKept(requesting, run)
    statuses[status] = (statuses[status] ?? 0) + 1
    await expectPaid(gateway, run, status)
  }
  console.log(JSON.stringify({ runs: runs.length, ...statuses }))
  for (const status of ['completed', 'failed', 'incomplete']) expect(statuses[status]).toBeGreaterThan(0)
  expect(runs.length).toBeGreaterThan(lives * clients)
  expect(await gateway.books.count('response_log')).toBe(0)
  expect((await gateway.books.account('acme'))[1]).toBe(0)
  await gateway.books.expectConsistent()
}, 120_000)

/** It is there and over, its events are whole, and one that a client was told to be over has not changed. */
async function expectKept({ get }: Asking, { id, last }: Acknowledged): Promise<ResponseObject> {
  const found = (await (await get(`/${id}`)).json()) as ResponseObject
  const { events, types, last: received } = await readEvents(await get(`/${id}?stream=true`))
  expect([id, received]).toEqual([id, found])
  expect([id, ...events.map(({ sequence_number }) => sequence_number)]).toEqual([id, ...events.keys()])
  expect(types.slice(0, 2)).toEqual(['response.created', 'response.queued'])
  expect<string | undefined>(types.at(-1)).toBe(`response.${found.status}`)
  if (last.status !== 'queued' && last.status !== 'in_progress') expect(found).toEqual(last)
  // What has begun does not begin again.
  if (last.status === 'in_progress') expect(types).toContain('response.in_progress')
  return found
}

/** One row and at most one charge, which agree with each other and with how the run ended. */
async function expectPaid(
  { books: billing }: GatewayProcess,
  { id, request }: Acknowledged,
  status: string,
): Promise<void> {
  const row = await billing.usageOf(request)
  const { charge = 0 } = await billing.entriesOf(request)
  expect([id, 1 + charge]).toEqual([id, 1 - (row?.cost ?? 0)])
  if (status === 'completed') expect([id, row?.status, row?.error]).toEqual([id, 200, null])
  if (status === 'incomplete') expect([id, row?.error]).toEqual([id, 'cancelled'])
  // Nobody knows what an interrupted one would have been told.
  if (status === 'failed') expect([id, row?.status]).toEqual([id, row?.error === 'interrupted' ? 0 : 502])
}

type Asking = ReturnType<typeof asker>

function asker({ url }: GatewayProcess, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const ask = (rest: string, method: string, body?: object) =>
    fetch(`${url()}/v1/responses${rest}`, { method, headers, body: body && JSON.stringify(body) })
  return {
    get: (rest: string) => ask(rest, 'GET'),
    cancel: (id: string) => ask(`/${id}/cancel`, 'POST'),
    queue: () => ask('', 'POST', { model: 'acme/river', input: 'How high is it?', background: true }),
  }
}

/** Undefined if the gateway has rejected it. */
async function queueRun({ queue }: Asking): Promise<Acknowledged | undefined> {
  const reply = await queue()
  const last = (await reply.json()) as ResponseObject
  return reply.ok ? { id: last.id, request: reply.headers.get('x-request-id') ?? '', last } : undefined
}

/** Adds a run for each way to end, so that the kills that follow meet all of them, whatever is drawn. */
async function addOneOfEachEnd(
  requesting: Asking,
  runs: Acknowledged[],
  respondWith: (script: Script) => void,
): Promise<void> {
  const ends: [string, Script][] = [
    ['completed', streamReply()],
    ['failed', providerDown],
    ['incomplete', silence],
  ]
  for (const [end, script] of ends) {
    respondWith(script)
    const run = await queueRun(requesting)
    if (run === undefined) throw new Error(`A run that is to be ${end} is rejected.`)
    if (end === 'incomplete') await requesting.cancel(run.id)
    const hasEnded = async () => {
      run.last = (await (await requesting.get(`/${run.id}`)).json()) as ResponseObject
      return run.last.status === end
    }
    await waitUntil(hasEnded, `a run that is ${end}`)
    runs.push(run)
  }
}

/** Queues, polls, follows and cancels at random until the gateway is gone. */
async function live(requesting: Asking, runs: Acknowledged[], random: () => number, dying: AbortSignal) {
  try {
    while (!dying.aborted) {
      const draw = random()
      if (draw < 0.5) {
        const run = await queueRun(requesting)
        if (run !== undefined) runs.push(run)
        continue
      }
      const run = runs[runs.length - 1 - Math.floor(random() * Math.min(30, runs.length))]
      if (run === undefined) continue
      const reply = await (draw < 0.8 ? requesting.get(`/${run.id}`) : requesting.cancel(run.id))
      const received = (await reply.json()) as ResponseObject
      if (reply.ok) run.last = laterOf(run.last, received)
    }
  } catch {
    // The connection broke with the gateway.
  }
}

const order = ['queued', 'in_progress']

/** Replies that cross may come in either order. */
function laterOf(one: ResponseObject, other: ResponseObject): ResponseObject {
  if (!order.includes(one.status)) return one
  return order.indexOf(one.status) > order.indexOf(other.status) && order.includes(other.status) ? one : other
}

const providerDown = json({ error: { message: 'Down.' } }, { status: 503 })

function randomProvider(random: () => number): Script {
  return { play: (socket, closed) => answerOf(random).play(socket, closed) }
}

function answerOf(random: () => number): Script {
  const draw = random()
  if (draw < 0.4) return streamReply()
  if (draw < 0.7) return chunks([...firstChunks, Bun.sleep(random() * 150), ...lastChunks])
  if (draw < 0.8) return providerDown
  if (draw < 0.95) return chunks([...firstChunks, Bun.sleep(random() * 400)], hang)
  return silence
}

import { expect, test } from 'bun:test'
import { openBillingDatabase, waitUntil } from '../../support/billing-database.ts'
import {
  cancelRun,
  cancelledRun,
  deleteRun,
  gatedReply,
  queueRun,
  waitForOutput,
  waitForRun,
} from '../../support/background.ts'
import type { App, Requester } from '../../support/app.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { postResponse, retrieveResponse, textOf } from '../../support/responses.ts'
import { silence } from '../../support/script.ts'
import { countInputs, endlessReply, prepareRunGateways } from './support/run-gateways.ts'
import { testSharedDatabases } from './support/shared-database.ts'

testSharedDatabases((create) => {
  test('each of a hundred queued runs reaches the provider exactly once, whichever of three processes executes it', async () => {
    const { start, upstream } = await prepareRunGateways(await create(), streamReply(), { concurrency: 4 })
    const apps = await Promise.all([start(), start(), start()])
    const inputs = Array.from({ length: 100 }, (_, index) => `run ${index}`)
    // All but one in five are queued at the first process.
    const runs = await Promise.all(
      inputs.map((input, index) => queueRun(apps[index % 5 === 0 ? 1 : 0], { input })),
    )
    // Each is followed at a process that need not be the one that executes it.
    const ends = await Promise.all(runs.map(({ id }, index) => waitForRun(apps[index % 3] ?? apps[0], id)))
    expect(new Set(ends.map(textOf))).toEqual(new Set(['It is four metres.']))
    expect(countInputs(upstream)).toEqual(new Map(inputs.map((input) => [input, 1])))
  })

  test('a process that is idle executes the queued runs of one that is busy', async () => {
    const database = await create()
    const { start, upstream } = await prepareRunGateways(database, endlessReply)
    const busy = await start()
    const endless = await queueRun(busy)
    await waitForOutput(busy, endless.id, 'It is ')
    upstream.respondWith(streamReply())
    const waiting = await Promise.all([queueRun(busy, { input: 'b' }), queueRun(busy, { input: 'c' })])
    expect(await retrieveResponse(busy, waiting[0].id)).toMatchObject({ status: 'queued' })
    const idle = await start()
    for (const { id } of waiting) {
      // It is followed at the process that has lost it.
      expect(await waitForRun(busy, id)).toMatchObject({ status: 'completed' })
      expect(await retrieveResponse(idle, id)).toMatchObject({ status: 'completed' })
    }
    expect(await retrieveResponse(busy, endless.id)).toMatchObject({ status: 'in_progress' })
    expect(countInputs(upstream)).toEqual(
      new Map([
        ['How high is it?', 1],
        ['b', 1],
        ['c', 1],
      ]),
    )
    expect(await cancelledRun(idle, endless.id)).toMatchObject({ status: 'incomplete' })
    expect(await database.rows('SELECT * FROM runs')).toEqual([])
  })

  test('the runs of an organization that hang leave slots of every process to another one', async () => {
    const database = await create()
    const { start, upstream } = await prepareRunGateways(database, silence, { concurrency: 4 })
    // The first start creates the first organization. The others find two: they look for a second one once a second.
    await (await start()).stop()
    await using billing = await openBillingDatabase(database.location)
    await billing.fund('other', '0', 'unmetered')
    const apps = await Promise.all([start(), start()])
    const headers = { authorization: `Bearer ${await billing.keyOf('other')}` }
    const queueOther = (app: App, input: string) => queueRun(app, { input }, { headers })
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => queueRun(apps[0], { input: `busy ${index}` })),
    )
    // Three of the four slots of each process.
    await upstream.request(5)
    for (const [index, app] of apps.entries()) {
      await queueOther(app, `other ${index}`)
      await upstream.request(6 + index)
      expect([...countInputs(upstream).keys()]).toContain(`other ${index}`)
    }
    expect([...countInputs(upstream).keys()].filter((input) => input.startsWith('busy'))).toHaveLength(6)
    expect(await billing.values("SELECT count(*) FROM responses WHERE status = 'in_progress'")).toEqual([[8]])
  })

  test('a run is found, cancelled and deleted at another process while it is queued', async () => {
    const { start, upstream } = await prepareRunGateways(await create(), endlessReply)
    const [owner, other] = await Promise.all([start(), start()])
    const busy = [await queueRun(owner), await queueRun(other)]
    await upstream.request(1)
    const { id } = await queueRun(owner)
    expect(await retrieveResponse(other, id)).toMatchObject({ id, status: 'queued' })
    expect((await deleteRun(other, id)).status).toBe(400)
    const cancelled = await cancelledRun(other, id)
    expect(cancelled).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
    expect(await retrieveResponse(owner, id)).toEqual(cancelled)
    // Cancelling it again changes nothing, wherever that is.
    for (const app of [owner, other]) expect(await cancelledRun(app, id)).toEqual(cancelled)
    expect((await deleteRun(owner, id)).status).toBe(200)
    expect((await cancelRun(other, id)).status).toBe(404)
    for (const run of busy) await cancelledRun(other, run.id)
    expect(upstream.requests).toHaveLength(2)
  })

  test('a run in progress is found, cancelled and deleted at another process', async () => {
    const database = await create()
    const { start, upstream } = await prepareRunGateways(database, endlessReply)
    const [owner, other] = await Promise.all([start(), start()])
    await database.fund(10_000_000_000n)
    const { id } = await queueRun(owner)
    await waitForOutput(other, id, 'It is ')
    expect(textOf(await retrieveResponse(other, id))).toBe('It is ')
    expect((await deleteRun(other, id)).status).toBe(400)
    const [first, second] = await Promise.all([cancelledRun(other, id), cancelledRun(other, id)])
    expect(first).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
    expect([second, await retrieveResponse(owner, id)]).toEqual([first, first])
    expect(await upstream.requests[0]?.aborted).toBe(true)
    expect((await deleteRun(other, id)).status).toBe(200)
    expect((await deleteRun(owner, id)).status).toBe(404)
    expect(await database.rows('SELECT * FROM runs')).toEqual([])
    expect(await database.rows('SELECT error FROM usage')).toEqual([{ error: 'cancelled' }])
  })

  test('a run that has ended is not cancelled, and found at every process', async () => {
    const { start } = await prepareRunGateways(await create(), streamReply())
    const [owner, other] = await Promise.all([start(), start()])
    const { id } = await queueRun(owner)
    const ended = await waitForRun(owner, id)
    expect(await retrieveResponse(other, id)).toEqual(ended)
    expect(await readError(await cancelRun(other, id))).toMatchObject({ status: 400 })
    expect((await deleteRun(other, id)).status).toBe(200)
    expect((await deleteRun(owner, id)).status).toBe(404)
  })

  test('the queued runs of an organization are limited across processes', async () => {
    const gate = Promise.withResolvers<void>()
    const { start, upstream } = await prepareRunGateways(await create(), gatedReply(gate.promise), {
      concurrency: 1,
      max_queued: 2,
    })
    const [first, second] = await Promise.all([start(), start()])
    const runs: { readonly id: string }[] = [await queueRun(first), await queueRun(second)]
    await upstream.request(1)
    runs.push(await queueWhenFree(first), await queueWhenFree(second))
    for (const app of [first, second])
      expect((await postResponse(app, { background: true })).status).toBe(429)
    gate.resolve()
    for (const { id } of runs) expect(await waitForRun(second, id)).toMatchObject({ status: 'completed' })
    await waitForRun(first, (await queueWhenFree(first)).id)
  })

  test('of sixty runs that three processes receive at once, exactly as many are queued as the limit allows', async () => {
    const { start, upstream } = await prepareRunGateways(await create(), endlessReply, {
      concurrency: 1,
      max_queued: 10,
    })
    const apps = await Promise.all([start(), start(), start()])
    const busy = await Promise.all(apps.map((app) => queueRun(app)))
    await upstream.request(2)
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        postResponse(apps[index % 3] ?? apps[0], { background: true }),
      ),
    )
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(50)
    for (const { status, ...reply } of await Promise.all(replies.map(idOf)))
      if (status === 200) await cancelledRun(apps[1], reply.id)
    expect(await queueWhenFree(apps[2])).toMatchObject({ status: 200 })
    for (const { id } of busy) await cancelledRun(apps[0], id)
  })

  test('a process that stops leaves its queued runs to another one', async () => {
    const { start, upstream } = await prepareRunGateways(await create(), endlessReply)
    const [leaving, other] = await Promise.all([start(), start()])
    const busy = [await queueRun(leaving), await queueRun(other)]
    await upstream.request(1)
    const waiting = await queueRun(leaving, { input: 'b' })
    upstream.respondWith(streamReply())
    await leaving.stop()
    const statuses = await Promise.all(busy.map(async ({ id }) => (await retrieveResponse(other, id)).status))
    expect(new Set(statuses)).toEqual(new Set(['failed', 'in_progress']))
    await cancelledRun(other, busy[statuses.indexOf('in_progress')]?.id ?? '')
    expect(await waitForRun(other, waiting.id)).toMatchObject({ status: 'completed' })
    await waitUntil(() => upstream.requests.length === 3, 'each is sent once')
  })
})

async function idOf(reply: Response): Promise<{ readonly status: number; readonly id: string }> {
  return { status: reply.status, id: ((await reply.json()) as { readonly id: string }).id }
}

/** Queues a run; what another process has released is free here within a quarter of a second. */
async function queueWhenFree(app: Requester): Promise<{ readonly id: string }> {
  let queued: Awaited<ReturnType<typeof idOf>> | undefined
  await waitUntil(async () => {
    queued = await idOf(await postResponse(app, { background: true }))
    return queued.status === 200
  }, 'a run is queued')
  return queued ?? { id: '' }
}

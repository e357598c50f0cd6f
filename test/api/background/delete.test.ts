import { expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import {
  firstChunks,
  cancelledRun,
  deleteRun,
  gatedReply,
  queueRun,
  waitForRun,
  startRun,
} from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { responsesPath, retrieveResponse } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'

const inFlight = {
  status: 400,
  type: 'invalid_request_error',
  code: null,
  param: null,
  message: 'Cannot delete a response that is in progress. Cancel it first, or wait until it has finished.',
}

test('a run that is queued or active cannot be deleted, and continues', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario([gatedReply(gate.promise), streamReply()], {
    settings: { background: { concurrency: 1 } },
  })
  const { app } = scenario
  const running = await startRun(scenario)
  const queued = (await queueRun(app)).id
  for (const id of [running, queued]) expect(await readError(await deleteRun(app, id))).toEqual(inFlight)
  expect((await retrieveResponse(app, running)).status).toBe('in_progress')
  expect((await retrieveResponse(app, queued)).status).toBe('queued')
  gate.resolve()
  for (const id of [running, queued]) {
    expect((await waitForRun(app, id)).status).toBe('completed')
    const reply = await deleteRun(app, id)
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { id, object: 'response.deleted', deleted: true },
    ])
  }
})

test('a finished run is deleted once and is then not found anywhere; its charge stays', async () => {
  await using paid = await startBillingScenario(streamReply(), { erasureDelay: 100 })
  const { id } = await queueRun(paid.app)
  await waitForRun(paid.app, id)
  const before = await paid.billing.account()
  expect((await deleteRun(paid.app, id)).status).toBe(200)
  for (const [path, method] of [
    ['', 'GET'],
    ['?stream=true', 'GET'],
    ['/cancel', 'POST'],
    ['/input_items', 'GET'],
    ['', 'DELETE'],
  ])
    expect((await paid.app.request(`${responsesPath}/${id}${path}`, { method })).status).toBe(404)
  await waitUntil(async () => (await paid.billing.count('responses')) === 0, 'the response to be erased')
  expect(await paid.billing.account()).toEqual(before)
  expect(await paid.billing.usage()).toHaveLength(1)
})

test('a cancelled run can be deleted immediately', async () => {
  await using scenario = await startScenario(chunks(firstChunks, hang))
  const id = await startRun(scenario)
  await cancelledRun(scenario.app, id)
  expect((await deleteRun(scenario.app, id)).status).toBe(200)
  expect((await deleteRun(scenario.app, id)).status).toBe(404)
})

test('one of two concurrent deletions succeeds, and the other finds nothing', async () => {
  await using scenario = await startScenario(streamReply())
  const { id } = await queueRun(scenario.app)
  await waitForRun(scenario.app, id)
  const replies = await Promise.all([deleteRun(scenario.app, id), deleteRun(scenario.app, id)])
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404])
})

test('a deletion by another organization deletes nothing', async () => {
  await using paid = await startBillingScenario([chunks(firstChunks, hang), streamReply()])
  await paid.billing.fund('other', '1')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('other')}` }
  const running = await startRun(paid)
  const { id } = await queueRun(paid.app)
  await waitForRun(paid.app, id)
  for (const run of [running, id]) expect((await deleteRun(paid.app, run, { headers })).status).toBe(404)
  expect((await retrieveResponse(paid.app, id)).status).toBe('completed')
  expect((await retrieveResponse(paid.app, running)).status).toBe('in_progress')
})

test('a reader of a finished run receives all of it, although the run is deleted meanwhile', async () => {
  await using scenario = await startScenario(streamReply())
  const { app } = scenario
  const { id } = await queueRun(app)
  await waitForRun(app, id)
  const reply = await app.request(`${responsesPath}/${id}?stream=true`)
  expect((await deleteRun(app, id)).status).toBe(200)
  expect(await reply.text()).toContain('event: response.completed\n')
})

test('retention deletes finished runs, and no others', async () => {
  await using paid = await startBillingScenario([streamReply(), chunks(firstChunks, hang)], {
    settings: { retention: { responses: '1ms' }, background: { concurrency: 1 } },
    sweepInterval: 10,
    erasureDelay: 100,
  })
  const finished = await queueRun(paid.app)
  const [running, queued] = [await queueRun(paid.app), await queueRun(paid.app)]
  await paid.acme.request(1)
  const rows = async () => (await paid.billing.values('SELECT id FROM responses ORDER BY id')).flat()
  while ((await rows()).includes(finished.id)) await Bun.sleep(5)
  expect(await rows()).toEqual([running.id, queued.id])
  expect((await retrieveResponse(paid.app, running.id)).status).toBe('in_progress')
  expect((await retrieveResponse(paid.app, queued.id)).status).toBe('queued')
  expect((await paid.app.request(`${responsesPath}/${finished.id}`)).status).toBe(404)
})

import { expect, test } from 'bun:test'
import { startPaid } from '../reliability/money/support/paid.ts'
import {
  begun,
  cancelled,
  deleteRun,
  gatedAnswer,
  queueRun,
  runOver,
  startedRun,
} from '../support/background.ts'
import { chunks, streamed } from '../support/chat-answers.ts'
import { readError } from '../support/chat-reply.ts'
import { responsesPath, retrieved } from '../support/responses.ts'
import { startScenario } from '../support/scenario.ts'
import { hang } from '../support/script.ts'

const inFlight = {
  status: 400,
  type: 'invalid_request_error',
  code: null,
  param: null,
  message: 'Cannot delete an in-flight response. Cancel it first, or wait for its end.',
}

test('a run that is queued or active cannot be deleted, and continues', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario([gatedAnswer(gate.promise), streamed()], {
    settings: { background: { concurrency: 1 } },
  })
  const { app } = scenario
  const running = await startedRun(scenario)
  const queued = (await queueRun(app)).id
  for (const id of [running, queued]) expect(await readError(await deleteRun(app, id))).toEqual(inFlight)
  expect((await retrieved(app, running)).status).toBe('in_progress')
  expect((await retrieved(app, queued)).status).toBe('queued')
  gate.resolve()
  for (const id of [running, queued]) {
    expect((await runOver(app, id)).status).toBe('completed')
    const reply = await deleteRun(app, id)
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { id, object: 'response.deleted', deleted: true },
    ])
  }
})

test('a finished run is deleted once and is then not found anywhere; its charge stays', async () => {
  await using paid = await startPaid(streamed())
  const { id } = await queueRun(paid.app)
  await runOver(paid.app, id)
  const before = paid.books.account()
  expect((await deleteRun(paid.app, id)).status).toBe(200)
  for (const [path, method] of [
    ['', 'GET'],
    ['?stream=true', 'GET'],
    ['/cancel', 'POST'],
    ['/input_items', 'GET'],
    ['', 'DELETE'],
  ])
    expect((await paid.app.request(`${responsesPath}/${id}${path}`, { method })).status).toBe(404)
  expect(paid.books.sqlite.query('SELECT count(*) FROM responses').values()).toEqual([[0]])
  expect(paid.books.account()).toEqual(before)
  expect(paid.books.rows()).toHaveLength(1)
})

test('a cancelled run can be deleted immediately', async () => {
  await using scenario = await startScenario(chunks(begun, hang))
  const id = await startedRun(scenario)
  await cancelled(scenario.app, id)
  expect((await deleteRun(scenario.app, id)).status).toBe(200)
  expect((await deleteRun(scenario.app, id)).status).toBe(404)
})

test('one of two concurrent deletions succeeds, and the other finds nothing', async () => {
  await using scenario = await startScenario(streamed())
  const { id } = await queueRun(scenario.app)
  await runOver(scenario.app, id)
  const replies = await Promise.all([deleteRun(scenario.app, id), deleteRun(scenario.app, id)])
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404])
})

test('a deletion by another organization deletes nothing', async () => {
  await using paid = await startPaid([chunks(begun, hang), streamed()])
  await paid.books.fund('other', '1')
  const headers = { authorization: `Bearer ${await paid.books.keyOf('other')}` }
  const running = await startedRun(paid)
  const { id } = await queueRun(paid.app)
  await runOver(paid.app, id)
  for (const run of [running, id]) expect((await deleteRun(paid.app, run, { headers })).status).toBe(404)
  expect((await retrieved(paid.app, id)).status).toBe('completed')
  expect((await retrieved(paid.app, running)).status).toBe('in_progress')
})

test('a reader of a finished run receives all of it, although the run is deleted meanwhile', async () => {
  await using scenario = await startScenario(streamed())
  const { app } = scenario
  const { id } = await queueRun(app)
  await runOver(app, id)
  const reply = await app.request(`${responsesPath}/${id}?stream=true`)
  expect((await deleteRun(app, id)).status).toBe(200)
  expect(await reply.text()).toContain('event: response.completed\n')
})

test('retention deletes finished runs, and no others', async () => {
  await using paid = await startPaid([streamed(), chunks(begun, hang)], {
    settings: { retention: { responses: '1ms' }, background: { concurrency: 1 } },
    sweepInterval: 10,
  })
  const over = await queueRun(paid.app)
  const [running, queued] = [await queueRun(paid.app), await queueRun(paid.app)]
  await paid.acme.request(1)
  const rows = () => paid.books.sqlite.query('SELECT id FROM responses ORDER BY id').values().flat()
  while (rows().includes(over.id)) await Bun.sleep(5)
  expect(rows()).toEqual([running.id, queued.id])
  expect((await retrieved(paid.app, running.id)).status).toBe('in_progress')
  expect((await retrieved(paid.app, queued.id)).status).toBe('queued')
  expect((await paid.app.request(`${responsesPath}/${over.id}`)).status).toBe(404)
})

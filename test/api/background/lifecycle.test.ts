import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { startBillingScenario, replyCost } from '../../support/billing-scenario.ts'
import {
  firstChunks,
  gatedReply,
  queueRunRequest,
  queueRun,
  waitForRun,
  waitForOutput,
  startRun,
} from '../../support/background.ts'
import { chunks, delta, chatOutput, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { replayResponse, postResponse, retrieveResponse, textOf } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { breakOff, json } from '../../support/script.ts'

const form = Compile(ResponseObject)
const two = { settings: { background: { concurrency: 1 } } }

test('a background run is queued, then in progress, then completed, for every reader', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using scenario = await startScenario([gatedReply(first.promise), gatedReply(second.promise)], two)
  const { app, acme } = scenario
  const ahead = await queueRun(app)
  const run = await queueRun(app, { metadata: { lake: 'north' } })
  expect(form.Check(run)).toBe(true)
  expect(run).toMatchObject({ status: 'queued', background: true, output: [], usage: null, error: null })
  expect(run).not.toHaveProperty('provider')
  await waitForOutput(app, ahead.id, 'It is ')
  expect(await retrieveResponse(app, run.id)).toEqual(run)
  expect(acme.requests.length).toBe(1)

  first.resolve()
  await waitForOutput(app, run.id, 'It is ')
  const underway = await retrieveResponse(app, run.id)
  expect(form.Check(underway)).toBe(true)
  expect(underway).toMatchObject({ id: run.id, status: 'in_progress', provider: 'acme', usage: null })
  expect([textOf(underway), underway.completed_at]).toEqual(['It is ', null])

  second.resolve()
  const complete = await waitForRun(app, run.id)
  expect(complete).toMatchObject({ status: 'completed', metadata: { lake: 'north' }, background: true })
  expect(textOf(complete)).toBe('It is four metres.')
  expect(complete.usage).toMatchObject({ input_tokens: 12, output_tokens: 5 })
  expect(await retrieveResponse(app, run.id)).toEqual(complete)
  expect((await retrieveResponse(app, ahead.id)).status).toBe('completed')
})

test('the events of a background run are those of a stream, preceded by the queued event', async () => {
  await using scenario = await startScenario(streamReply())
  const { id } = await queueRun(scenario.app)
  const { types, events } = await replayResponse(scenario.app, id)
  expect(types).toEqual([
    'response.created',
    'response.queued',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...types.keys()])
  expect(scenario.acme.requests[0]?.body).toMatchObject({ stream: true })
})

test('a finished run is the same after the gateway restarts', async () => {
  await using paid = await startBillingScenario(streamReply())
  const { id } = await queueRun(paid.app)
  const [received, found] = [await replayResponse(paid.app, id), await retrieveResponse(paid.app, id)]
  const rows = await paid.billing.values('SELECT status, run, deletion FROM responses')
  expect(rows).toEqual([['completed', null, null]])
  expect(await paid.billing.values('SELECT count(*) FROM response_log')).toEqual([[0]])
  await paid.app.stop()
  await using again = await startScenario(streamReply(), { database: paid.database })
  expect((await replayResponse(again.app, id)).text).toBe(received.text)
  expect(await retrieveResponse(again.app, id)).toEqual(found)
  expect(again.acme.requests).toEqual([])
})

test('a background run has one usage row, one charge and one log line, under the id of its request', async () => {
  await using paid = await startBillingScenario(streamReply())
  const { id, request } = await queueRunRequest(paid.app, { tags: ['night'] })
  await waitForRun(paid.app, id)
  expect(await paid.billing.waitForUsage(1)).toEqual([
    expect.objectContaining({
      id: request,
      api: 'responses',
      status: 200,
      error: null,
      cost: replyCost,
      provider: 'acme',
      tags: '["night"]',
      prompt_tokens: 12,
      completion_tokens: 5,
    }),
  ])
  expect(await paid.billing.entriesOf(request)).toEqual({ charge: -replyCost })
  await paid.billing.expectConsistent()
  await paid.app.requestLines.withId(request, 2)
  const lines = paid.app.requestLines.all.map((line) => JSON.parse(line))
  const ofRun = lines.filter((line) => line.request === request)
  expect(ofRun.map(({ status, background, cost_usd }) => [status, background, cost_usd])).toEqual([
    [200, undefined, undefined],
    [200, true, '0.000062000'],
  ])
  expect(JSON.stringify(lines)).not.toContain('four metres')
})

describe('a background run', () => {
  test('ends as incomplete where the output limit was reached', async () => {
    await using scenario = await startScenario(streamReply(chatOutput({ finish: 'length' })))
    const run = await waitForRun(scenario.app, (await queueRun(scenario.app)).id)
    expect(run).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(textOf(run)).toBe('It is four metres.')
  })

  test('ends as failed, without output or charge, where no provider responds', async () => {
    await using paid = await startBillingScenario(json({ error: { message: 'Down.' } }, { status: 503 }))
    const { id, request } = await queueRunRequest(paid.app)
    const run = await waitForRun(paid.app, id)
    expect(run).toMatchObject({ status: 'failed', output: [], error: { code: 'server_error' } })
    const { types, text } = await replayResponse(paid.app, id)
    expect(text).toContain('"code":"upstream_unavailable"')
    expect(types).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'error',
      'response.failed',
    ])
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ id: request, status: 502, error: 'upstream_unavailable', cost: 0 })
    expect(await paid.billing.account()).toEqual([1e9, 0])
    expect(await retrieveResponse(paid.app, id)).toEqual(run)
  })

  test('ends as failed, with its output so far and the price of that, where the stream breaks', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(chunks([...firstChunks, gate.promise], breakOff))
    const id = await startRun(paid)
    gate.resolve()
    const run = await waitForRun(paid.app, id)
    expect(run).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    expect(textOf(run)).toBe('It is ')
    expect(run.output).toMatchObject([{ status: 'incomplete' }])
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({
      status: 502,
      error: 'upstream_unavailable',
      completion_tokens: 2,
      estimated: 1,
    })
    expect(await paid.billing.account()).toEqual([1e9 - row!.cost!, 0])
    await paid.billing.expectConsistent()
  })

  test('completes by failover to the next route where the first one fails', async () => {
    await using scenario = await startScenario(json({ error: { message: 'Down.' } }, { status: 503 }), {
      other: [streamReply()],
    })
    const run = await waitForRun(scenario.app, (await queueRun(scenario.app)).id)
    expect(run).toMatchObject({ status: 'completed', provider: 'other' })
  })

  test('completes where the model produced no output', async () => {
    await using scenario = await startScenario(
      chunks([delta({ role: 'assistant' }), delta({}, 'stop'), 'data: [DONE]\n\n']),
    )
    const run = await waitForRun(scenario.app, (await queueRun(scenario.app)).id)
    expect(run).toMatchObject({ status: 'completed', output: [] })
  })
})

test('a background run with store: false is rejected like an invalid request, and nothing is queued', async () => {
  await using paid = await startBillingScenario(streamReply())
  const refused = await readError(await postResponse(paid.app, { background: true, store: false }))
  expect(refused).toMatchObject({ status: 400, param: 'background' })
  expect((await postResponse(paid.app, { background: true, temperature: 9 })).status).toBe(400)
  expect((await postResponse(paid.app, { background: true, model: 'acme/sea' })).status).toBe(404)
  expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[0]])
  expect((await paid.billing.waitForUsage(3)).map(({ status }) => status)).toEqual([400, 400, 404])
  expect(paid.acme.requests).toEqual([])
})

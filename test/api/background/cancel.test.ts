import { describe, expect, test } from 'bun:test'
import {
  maxCost,
  type BillingScenario,
  abortedPromptCost,
  startBillingScenario,
  replyCost,
} from '../../support/billing-scenario.ts'
import {
  firstChunks,
  cancelledRun,
  cancelRun,
  lastChunks,
  gatedReply,
  queueRunRequest,
  queueRun,
  waitForRun,
  waitForOutput,
  startRun,
} from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import {
  replayResponse,
  postResponse,
  createResponse,
  retrieveResponse,
  textOf,
} from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { hang, json, silence } from '../../support/script.ts'

const start = 1e9
/** The prompt and what was said until then, six characters, both estimated; time in which nothing came is on top. */
const partCost = abortedPromptCost + 3 * 10_000

/** One row says that it was cancelled and cost so much, which is what was taken; nothing is reserved. */
async function expectCancelled(
  { billing }: BillingScenario,
  request: string,
  cost: number,
  rows = 1,
): Promise<void> {
  await billing.waitForUsage(rows)
  expect(await billing.usageOf(request)).toMatchObject({ status: 499, error: 'cancelled' })
  expect((await billing.usageOf(request))?.cost ?? 0).toBe(cost)
  expect(await billing.entriesOf(request)).toEqual(cost > 0 ? { charge: -cost } : {})
  await billing.expectConsistent()
}

/** The same of a run that cost at least so much. */
async function expectCancelledAfter(paid: BillingScenario, request: string, atLeast: number): Promise<void> {
  await paid.billing.waitForUsage(1)
  const cost = (await paid.billing.usageOf(request))?.cost ?? 0
  expect(cost).toBeWithin(atLeast, maxCost + 1)
  await expectCancelled(paid, request, cost)
}

describe('a background run', () => {
  test('that is cancelled while queued calls no provider, costs nothing, and releases its reservation', async () => {
    await using paid = await startBillingScenario(chunks(firstChunks, hang), {
      settings: { background: { concurrency: 1 } },
    })
    await startRun(paid)
    const { id, request } = await queueRunRequest(paid.app)
    const next = await queueRunRequest(paid.app)
    const reader = replayResponse(paid.app, id)
    expect(await paid.billing.account()).toEqual([start, 3 * maxCost])
    const received = await cancelledRun(paid.app, id)
    expect(received).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'cancelled' },
      output: [],
    })
    expect(received.completed_at).toBeNull()
    expect((await reader).types).toEqual(['response.created', 'response.queued', 'response.incomplete'])
    expect(await retrieveResponse(paid.app, id)).toEqual(received)
    expect(await paid.billing.account()).toEqual([start, 2 * maxCost])
    expect(await paid.billing.usageOf(request)).toMatchObject({
      status: 499,
      error: 'cancelled',
      prompt_tokens: 0,
    })
    expect(await paid.billing.entriesOf(request)).toEqual({})
    expect(paid.acme.requests.length).toBe(1)
    expect((await retrieveResponse(paid.app, next.id)).status).toBe('queued')
    await paid.billing.expectConsistent()
  })

  test('that is cancelled before its first token aborts the provider call, and costs the prompt', async () => {
    await using paid = await startBillingScenario(silence)
    const { id, request } = await queueRunRequest(paid.app)
    const upstream = await paid.acme.request(0)
    const received = await cancelledRun(paid.app, id)
    expect(received).toMatchObject({ status: 'incomplete', output: [] })
    expect(await upstream.aborted).toBe(true)
    await expectCancelledAfter(paid, request, abortedPromptCost)
  })

  test('that is cancelled between two tokens aborts the provider call, keeps its output so far, and is charged for it', async () => {
    await using paid = await startBillingScenario(chunks(firstChunks, hang))
    const { id, request } = await queueRunRequest(paid.app)
    await waitForOutput(paid.app, id, 'It is ')
    const readers = [replayResponse(paid.app, id), replayResponse(paid.app, id, 'starting_after=4')]
    const received = await cancelledRun(paid.app, id)
    expect(await paid.acme.requests[0]!.aborted).toBe(true)
    expect(received).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'cancelled' },
      error: null,
    })
    expect(textOf(received)).toBe('It is ')
    expect(received.output).toMatchObject([{ type: 'message', status: 'incomplete' }])
    expect(received.usage).toMatchObject({ input_tokens: 22, output_tokens: expect.any(Number) })
    for (const reader of readers) expect((await reader).last).toEqual(received)
    await expectCancelledAfter(paid, request, partCost)
    expect(await retrieveResponse(paid.app, id)).toEqual(received)
  })

  test('that is cancelled after its last token has the complete text and the usage of the provider', async () => {
    await using paid = await startBillingScenario(chunks([...firstChunks, ...lastChunks.slice(0, 3)], hang))
    const { id, request } = await queueRunRequest(paid.app)
    await waitForOutput(paid.app, id, 'four metres.')
    const received = await cancelledRun(paid.app, id)
    expect([received.status, textOf(received)]).toEqual(['incomplete', 'It is four metres.'])
    expect(await paid.acme.requests[0]!.aborted).toBe(true)
    await paid.billing.waitForUsage(1)
    const cost = (await paid.billing.usageOf(request))!.cost!
    expect(cost).toBe(replyCost)
    await expectCancelled(paid, request, cost)
  })

  test('that is cancelled repeatedly, also concurrently, answers the same each time and is settled once', async () => {
    await using paid = await startBillingScenario(chunks(firstChunks, hang))
    const { id, request } = await queueRunRequest(paid.app)
    await waitForOutput(paid.app, id, 'It is ')
    const received = await Promise.all(Array.from({ length: 5 }, () => cancelledRun(paid.app, id)))
    received.push(await cancelledRun(paid.app, id))
    for (const one of received) expect(one).toEqual(received[0]!)
    expect(
      (await replayResponse(paid.app, id)).types.filter((type) => type === 'response.incomplete'),
    ).toHaveLength(1)
    await expectCancelledAfter(paid, request, partCost)
  })

  test('that many clients cancel while it is queued answers the same to all of them', async () => {
    await using paid = await startBillingScenario(chunks(firstChunks, hang), {
      settings: { background: { concurrency: 1 } },
    })
    await startRun(paid)
    const { id, request } = await queueRunRequest(paid.app)
    const received = await Promise.all(Array.from({ length: 5 }, () => cancelledRun(paid.app, id)))
    for (const one of received) expect(one).toEqual(received[0]!)
    expect(await paid.billing.usageOf(request)).toMatchObject({ error: 'cancelled' })
    expect(await paid.billing.account()).toEqual([start, maxCost])
  })

  test('that was cancelled is still cancelled after the gateway restarts', async () => {
    await using paid = await startBillingScenario(chunks(firstChunks, hang))
    const id = await startRun(paid)
    const received = await cancelledRun(paid.app, id)
    await paid.app.stop()
    await using again = await startScenario(streamReply(), { database: paid.database })
    expect(await retrieveResponse(again.app, id)).toEqual(received)
    expect(await cancelledRun(again.app, id)).toEqual(received)
    expect(again.acme.requests).toEqual([])
  })
})

describe('a cancellation is rejected', () => {
  test.each([
    ['completed', streamReply()],
    ['failed', json({ error: { message: 'No.' } }, { status: 400 })],
  ])('for a run that has %s', async (status, script) => {
    await using scenario = await startScenario(script)
    const { id } = await queueRun(scenario.app)
    const before = await waitForRun(scenario.app, id)
    expect(await readError(await cancelRun(scenario.app, id))).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code: null,
      param: null,
      message: `Cannot cancel a ${status} response.`,
    })
    expect(await retrieveResponse(scenario.app, id)).toEqual(before)
  })

  test('for a response in the foreground, while it is generated and afterwards', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(gatedReply(gate.promise))
    const { app, acme } = scenario
    const reply = await postResponse(app, { stream: true })
    const id = /resp_[0-9a-f]+/.exec(
      new TextDecoder().decode((await reply.clone().body!.getReader().read()).value),
    )![0]
    const refused = { status: 400, message: 'Cannot cancel a synchronous response.' }
    expect(await readError(await cancelRun(app, id))).toMatchObject(refused)
    gate.resolve()
    expect(await reply.text()).toContain('event: response.completed\n')
    expect(await readError(await cancelRun(app, id))).toMatchObject(refused)
    expect(acme.requests.length).toBe(1)
    acme.respondWith(streamReply())
  })

  test('for a response that does not exist, is not stored, or belongs to another organization', async () => {
    await using paid = await startBillingScenario([chunks(firstChunks, hang), streamReply()])
    await paid.billing.fund('other', '1')
    const headers = { authorization: `Bearer ${await paid.billing.keyOf('other')}` }
    const id = await startRun(paid)
    const unstored = await createResponse(paid.app, { store: false }).catch(() => ({ id: 'resp_none' }))
    for (const reply of [
      await cancelRun(paid.app, id, { headers }),
      await cancelRun(paid.app, 'resp_unknown'),
      await cancelRun(paid.app, unstored.id),
    ])
      expect((await readError(reply)).status).toBe(404)
    expect((await retrieveResponse(paid.app, id)).status).toBe('in_progress')
  })
})

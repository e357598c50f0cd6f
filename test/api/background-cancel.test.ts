import { describe, expect, test } from 'bun:test'
import {
  mostCost,
  type Paid,
  leftPromptCost,
  startPaid,
  usualCost,
} from '../reliability/money/support/paid.ts'
import {
  begun,
  cancelled,
  cancelRun,
  ended,
  gatedAnswer,
  queueRequest,
  queueRun,
  runOver,
  runTells,
  startedRun,
} from '../support/background.ts'
import { chunks, streamed } from '../support/chat-answers.ts'
import { readError } from '../support/chat-reply.ts'
import { replayed, respond, responded, retrieved, textOf } from '../support/responses.ts'
import { startScenario } from '../support/scenario.ts'
import { hang, json, silence } from '../support/script.ts'

const start = 1e9
/** The prompt and what was said until then, six characters, both estimated; time in which nothing came is on top. */
const partCost = leftPromptCost + 3 * 10_000

/** One row says that it was cancelled and cost so much, which is what was taken; nothing is reserved. */
async function expectCancelled({ books }: Paid, request: string, cost: number, rows = 1): Promise<void> {
  await books.settled(rows)
  expect(books.row(request)).toMatchObject({ status: 499, error: 'cancelled' })
  expect(books.row(request)?.cost ?? 0).toBe(cost)
  expect(books.entriesOf(request)).toEqual(cost > 0 ? { charge: -cost } : {})
  books.expectSound()
}

/** The same of a run that cost at least so much. */
async function expectCancelledAfter(paid: Paid, request: string, atLeast: number): Promise<void> {
  await paid.books.settled(1)
  const cost = paid.books.row(request)?.cost ?? 0
  expect(cost).toBeWithin(atLeast, mostCost + 1)
  await expectCancelled(paid, request, cost)
}

describe('a background run', () => {
  test('that is cancelled while queued calls no provider, costs nothing, and releases its reservation', async () => {
    await using paid = await startPaid(chunks(begun, hang), { settings: { background: { concurrency: 1 } } })
    await startedRun(paid)
    const { id, request } = await queueRequest(paid.app)
    const next = await queueRequest(paid.app)
    const reader = replayed(paid.app, id)
    expect(paid.books.account()).toEqual([start, 3 * mostCost])
    const told = await cancelled(paid.app, id)
    expect(told).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'cancelled' },
      output: [],
    })
    expect(told.completed_at).toBeNull()
    expect((await reader).types).toEqual(['response.created', 'response.queued', 'response.incomplete'])
    expect(await retrieved(paid.app, id)).toEqual(told)
    expect(paid.books.account()).toEqual([start, 2 * mostCost])
    expect(paid.books.row(request)).toMatchObject({ status: 499, error: 'cancelled', prompt_tokens: 0 })
    expect(paid.books.entriesOf(request)).toEqual({})
    expect(paid.acme.requests.length).toBe(1)
    expect((await retrieved(paid.app, next.id)).status).toBe('queued')
    paid.books.expectSound()
  })

  test('that is cancelled before its first token aborts the provider call, and costs the prompt', async () => {
    await using paid = await startPaid(silence)
    const { id, request } = await queueRequest(paid.app)
    const upstream = await paid.acme.request(0)
    const told = await cancelled(paid.app, id)
    expect(told).toMatchObject({ status: 'incomplete', output: [] })
    expect(await upstream.left).toBe(true)
    await expectCancelledAfter(paid, request, leftPromptCost)
  })

  test('that is cancelled between two tokens aborts the provider call, keeps its output so far, and is charged for it', async () => {
    await using paid = await startPaid(chunks(begun, hang))
    const { id, request } = await queueRequest(paid.app)
    await runTells(paid.app, id, 'It is ')
    const readers = [replayed(paid.app, id), replayed(paid.app, id, 'starting_after=4')]
    const told = await cancelled(paid.app, id)
    expect(await paid.acme.requests[0]!.left).toBe(true)
    expect(told).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'cancelled' },
      error: null,
    })
    expect(textOf(told)).toBe('It is ')
    expect(told.output).toMatchObject([{ type: 'message', status: 'incomplete' }])
    expect(told.usage).toMatchObject({ input_tokens: 22, output_tokens: expect.any(Number) })
    for (const reader of readers) expect((await reader).last).toEqual(told)
    await expectCancelledAfter(paid, request, partCost)
    expect(await retrieved(paid.app, id)).toEqual(told)
  })

  test('that is cancelled after its last token has the complete text and the usage of the provider', async () => {
    await using paid = await startPaid(chunks([...begun, ...ended.slice(0, 3)], hang))
    const { id, request } = await queueRequest(paid.app)
    await runTells(paid.app, id, 'four metres.')
    const told = await cancelled(paid.app, id)
    expect([told.status, textOf(told)]).toEqual(['incomplete', 'It is four metres.'])
    expect(await paid.acme.requests[0]!.left).toBe(true)
    await paid.books.settled(1)
    const cost = paid.books.row(request)!.cost!
    expect(cost).toBe(usualCost)
    await expectCancelled(paid, request, cost)
  })

  test('that is cancelled repeatedly, also concurrently, answers the same each time and is settled once', async () => {
    await using paid = await startPaid(chunks(begun, hang))
    const { id, request } = await queueRequest(paid.app)
    await runTells(paid.app, id, 'It is ')
    const told = await Promise.all(Array.from({ length: 5 }, () => cancelled(paid.app, id)))
    told.push(await cancelled(paid.app, id))
    for (const one of told) expect(one).toEqual(told[0]!)
    expect(
      (await replayed(paid.app, id)).types.filter((type) => type === 'response.incomplete'),
    ).toHaveLength(1)
    await expectCancelledAfter(paid, request, partCost)
  })

  test('that many clients cancel while it is queued answers the same to all of them', async () => {
    await using paid = await startPaid(chunks(begun, hang), { settings: { background: { concurrency: 1 } } })
    await startedRun(paid)
    const { id, request } = await queueRequest(paid.app)
    const told = await Promise.all(Array.from({ length: 5 }, () => cancelled(paid.app, id)))
    for (const one of told) expect(one).toEqual(told[0]!)
    expect(paid.books.row(request)).toMatchObject({ error: 'cancelled' })
    expect(paid.books.account()).toEqual([start, mostCost])
  })

  test('that was cancelled is still cancelled after the gateway restarts', async () => {
    await using paid = await startPaid(chunks(begun, hang))
    const id = await startedRun(paid)
    const told = await cancelled(paid.app, id)
    await paid.app.stop()
    await using again = await startScenario(streamed(), { database: paid.file })
    expect(await retrieved(again.app, id)).toEqual(told)
    expect(await cancelled(again.app, id)).toEqual(told)
    expect(again.acme.requests).toEqual([])
  })
})

describe('a cancellation is rejected', () => {
  test.each([
    ['completed', streamed()],
    ['failed', json({ error: { message: 'No.' } }, { status: 400 })],
  ])('for a run that has %s', async (status, script) => {
    await using scenario = await startScenario(script)
    const { id } = await queueRun(scenario.app)
    const before = await runOver(scenario.app, id)
    expect(await readError(await cancelRun(scenario.app, id))).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code: null,
      param: null,
      message: `Cannot cancel a ${status} response.`,
    })
    expect(await retrieved(scenario.app, id)).toEqual(before)
  })

  test('for a response in the foreground, while it is generated and afterwards', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(gatedAnswer(gate.promise))
    const { app, acme } = scenario
    const reply = await respond(app, { stream: true })
    const id = /resp_[0-9a-f]+/.exec(
      new TextDecoder().decode((await reply.clone().body!.getReader().read()).value),
    )![0]
    const refused = { status: 400, message: 'Cannot cancel a synchronous response.' }
    expect(await readError(await cancelRun(app, id))).toMatchObject(refused)
    gate.resolve()
    expect(await reply.text()).toContain('event: response.completed\n')
    expect(await readError(await cancelRun(app, id))).toMatchObject(refused)
    expect(acme.requests.length).toBe(1)
    acme.answer(streamed())
  })

  test('for a response that does not exist, is not stored, or belongs to another organization', async () => {
    await using paid = await startPaid([chunks(begun, hang), streamed()])
    await paid.books.fund('other', '1')
    const headers = { authorization: `Bearer ${await paid.books.keyOf('other')}` }
    const id = await startedRun(paid)
    const unstored = await responded(paid.app, { store: false }).catch(() => ({ id: 'resp_none' }))
    for (const reply of [
      await cancelRun(paid.app, id, { headers }),
      await cancelRun(paid.app, 'resp_unknown'),
      await cancelRun(paid.app, unstored.id),
    ])
      expect((await readError(reply)).status).toBe(404)
    expect((await retrieved(paid.app, id)).status).toBe('in_progress')
  })
})

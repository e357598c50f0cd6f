import { describe, expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import {
  firstChunks,
  cancelledRun,
  deleteRun,
  lastChunks,
  gatedReply,
  queueRun,
  waitForRun,
  startRun,
} from '../../support/background.ts'
import { chunks, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { postResponse, createResponse, retrieveResponse } from '../../support/responses.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { type Script, hang, json, jsonPieces } from '../../support/script.ts'

const previousNotFound = {
  status: 400,
  type: 'invalid_request_error',
  code: 'previous_response_not_found',
  param: 'previous_response_id',
}

/** Milliseconds: in PostgreSQL, a response is erased so long after its deletion, and the previous one as long after that. */
const erasureDelay = 100

/** The texts of the messages that the upstream request of that number has asked. */
function requested({ acme }: Pick<Scenario, 'acme'>, number: number): unknown[] {
  const body = acme.requests[number]?.body as { messages: { content: unknown }[] }
  return body.messages.map(({ content }) => content)
}

const talk = (text: string) => streamReply(chatOutput({ text: [text] }))

describe('a background run continues from', () => {
  test('a previous response and everything before it, including deleted responses', async () => {
    await using scenario = await startScenario([talk('one'), talk('two'), talk('three')])
    const { app } = scenario
    const first = await waitForRun(app, (await queueRun(app, { input: 'a' })).id)
    const second = await waitForRun(
      app,
      (await queueRun(app, { input: 'b', previous_response_id: first.id })).id,
    )
    await deleteRun(app, first.id)
    const third = await waitForRun(
      app,
      (await queueRun(app, { input: 'c', previous_response_id: second.id })).id,
    )
    expect(third).toMatchObject({ status: 'completed', previous_response_id: second.id })
    expect(requested(scenario, 2)).toEqual(['a', 'one', 'b', 'two', 'c'])
  })

  test('a previous response that was deleted while the run was queued', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(
      [talk('one'), gatedReply(gate.promise), talk('two'), talk('three')],
      {
        settings: { background: { concurrency: 1 } },
        erasureDelay,
      },
    )
    const { app } = paid
    const first = await waitForRun(app, (await queueRun(app, { input: 'a' })).id)
    await startRun(paid)
    const waiting = await queueRun(app, { input: 'b', previous_response_id: first.id })
    expect((await deleteRun(app, first.id)).status).toBe(200)
    gate.resolve()
    expect((await waitForRun(app, waiting.id)).status).toBe('completed')
    expect(requested(paid, 2)).toEqual(['a', 'one', 'b'])
    const next = await waitForRun(
      app,
      (await queueRun(app, { input: 'c', previous_response_id: waiting.id })).id,
    )
    expect(next.status).toBe('completed')
    expect(requested(paid, 3)).toEqual(['a', 'one', 'b', 'two', 'c'])
    for (const { id } of [next, waiting]) await deleteRun(app, id)
    const left = () => paid.billing.count('responses WHERE deletion IS NOT NULL')
    await waitUntil(async () => (await left()) === 0, 'the deleted responses are erased')
  })

  test('the output of a cancelled run', async () => {
    await using scenario = await startScenario([chunks(firstChunks, hang), streamReply()])
    const { app } = scenario
    const id = await startRun(scenario)
    await cancelledRun(app, id)
    await waitForRun(app, (await queueRun(app, { input: 'b', previous_response_id: id })).id)
    expect(requested(scenario, 1)).toEqual(['How high is it?', 'It is ', 'b'])
  })
})

describe('a background run is rejected', () => {
  test('while its previous run is queued or active', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario([gatedReply(gate.promise), streamReply()], {
      settings: { background: { concurrency: 1 } },
    })
    const { app, acme } = scenario
    const running = await startRun(scenario)
    const queued = (await queueRun(app)).id
    for (const id of [running, queued]) {
      for (const background of [true, false]) {
        const reply = await postResponse(app, { background, previous_response_id: id })
        expect(await readError(reply)).toMatchObject(previousNotFound)
      }
    }
    expect(acme.requests.length).toBe(1)
    gate.resolve()
    for (const id of [running, queued]) await waitForRun(app, id)
    expect((await postResponse(app, { background: true, previous_response_id: running })).status).toBe(200)
  })

  test('when its previous response was deleted or belongs to another organization', async () => {
    await using paid = await startBillingScenario(streamReply())
    await paid.billing.fund('other', '1')
    const headers = { authorization: `Bearer ${await paid.billing.keyOf('other')}` }
    const { id } = await queueRun(paid.app)
    await waitForRun(paid.app, id)
    const body = { background: true, previous_response_id: id }
    expect(await readError(await postResponse(paid.app, body, { headers }))).toMatchObject(previousNotFound)
    await deleteRun(paid.app, id)
    expect(await readError(await postResponse(paid.app, body))).toMatchObject(previousNotFound)
    expect(paid.acme.requests.length).toBe(1)
  })
})

describe.each<[name: string, stream: boolean, answer: (gate: Promise<void>) => Script]>([
  [
    'not streamed',
    false,
    (gate) =>
      jsonPieces([
        gate,
        JSON.stringify({
          choices: [{ index: 0, message: { role: 'assistant', content: 'two' }, finish_reason: 'stop' }],
        }),
      ]),
  ],
  ['streamed', true, (gate) => chunks([...firstChunks, gate, ...lastChunks])],
])(
  'a foreground response (%s) whose previous response is deleted while it is generated',
  (_, stream, providerReply) => {
    test('can be continued later, and its deletion erases the previous one too', async () => {
      const gate = Promise.withResolvers<void>()
      await using paid = await startBillingScenario([talk('one'), providerReply(gate.promise), jsonReply()], {
        erasureDelay,
      })
      const { app } = paid
      const first = await waitForRun(app, (await queueRun(app, { input: 'a' })).id)
      const replying = postResponse(app, { input: 'b', previous_response_id: first.id, stream })
      await paid.acme.request(1)
      expect((await deleteRun(app, first.id)).status).toBe(200)
      expect((await app.request(`/v1/responses/${first.id}`)).status).toBe(404)
      gate.resolve()
      const second = /resp_[0-9a-f]+/.exec(await (await replying).text())![0]
      const third = await createResponse(app, { input: 'c', previous_response_id: second })
      expect(third.status).toBe('completed')
      expect(requested(paid, 2)).toEqual(['a', 'one', 'b', stream ? 'It is four metres.' : 'two', 'c'])
      await deleteRun(app, second)
      await deleteRun(app, third.id)
      const left = () => paid.billing.count('responses')
      await waitUntil(async () => (await left()) === 0, 'the responses are erased')
    })

    test.each<[string, Script]>([
      ['fails', json({ error: { message: 'No.' } }, { status: 400 })],
      ['is not to be stored', jsonReply()],
    ])('leaves no row behind where it %s', async (why, script) => {
      const answer = stream && why !== 'fails' ? streamReply() : script
      await using paid = await startBillingScenario([talk('one'), answer], { erasureDelay })
      const { app } = paid
      const first = await waitForRun(app, (await queueRun(app)).id)
      const store = why === 'fails'
      await (await postResponse(app, { previous_response_id: first.id, stream, store })).text()
      expect((await deleteRun(app, first.id)).status).toBe(200)
      const left = () => paid.billing.count('responses')
      await waitUntil(async () => (await left()) === 0, 'the response is erased')
      expect(await retrieveResponse(app, first.id).catch(() => undefined)).toBeUndefined()
    })
  },
)

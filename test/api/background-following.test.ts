import { describe, expect, test } from 'bun:test'
import { startPaid } from '../reliability/money/support/paid.ts'
import {
  begun,
  cancelled,
  deleteRun,
  ended,
  gatedAnswer,
  queueRun,
  runOver,
  startedRun,
} from '../support/background.ts'
import { chunks, said, streamed, whole } from '../support/chat-answers.ts'
import { readError } from '../support/chat-reply.ts'
import { respond, responded, retrieved } from '../support/responses.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { type Script, hang, json, jsonPieces } from '../support/script.ts'

const previousNotFound = {
  status: 400,
  type: 'invalid_request_error',
  code: 'previous_response_not_found',
  param: 'previous_response_id',
}

/** The texts of the messages that the upstream request of that number has asked. */
function asked({ acme }: Pick<Scenario, 'acme'>, number: number): unknown[] {
  const body = acme.requests[number]?.body as { messages: { content: unknown }[] }
  return body.messages.map(({ content }) => content)
}

const talk = (text: string) => streamed(said({ text: [text] }))

describe('a background run continues from', () => {
  test('a previous response and everything before it, including deleted responses', async () => {
    await using scenario = await startScenario([talk('one'), talk('two'), talk('three')])
    const { app } = scenario
    const first = await runOver(app, (await queueRun(app, { input: 'a' })).id)
    const second = await runOver(
      app,
      (await queueRun(app, { input: 'b', previous_response_id: first.id })).id,
    )
    await deleteRun(app, first.id)
    const third = await runOver(
      app,
      (await queueRun(app, { input: 'c', previous_response_id: second.id })).id,
    )
    expect(third).toMatchObject({ status: 'completed', previous_response_id: second.id })
    expect(asked(scenario, 2)).toEqual(['a', 'one', 'b', 'two', 'c'])
  })

  test('a previous response that was deleted while the run was queued', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid([talk('one'), gatedAnswer(gate.promise), talk('two'), talk('three')], {
      settings: { background: { concurrency: 1 } },
    })
    const { app } = paid
    const first = await runOver(app, (await queueRun(app, { input: 'a' })).id)
    await startedRun(paid)
    const waiting = await queueRun(app, { input: 'b', previous_response_id: first.id })
    expect((await deleteRun(app, first.id)).status).toBe(200)
    gate.resolve()
    expect((await runOver(app, waiting.id)).status).toBe('completed')
    expect(asked(paid, 2)).toEqual(['a', 'one', 'b'])
    const next = await runOver(
      app,
      (await queueRun(app, { input: 'c', previous_response_id: waiting.id })).id,
    )
    expect(next.status).toBe('completed')
    expect(asked(paid, 3)).toEqual(['a', 'one', 'b', 'two', 'c'])
    for (const { id } of [next, waiting]) await deleteRun(app, id)
    const left = paid.books.sqlite.query('SELECT count(*) FROM responses WHERE deletion IS NOT NULL')
    while (left.values()[0]?.[0] !== 0) await paid.app.request('/livez')
  })

  test('the output of a cancelled run', async () => {
    await using scenario = await startScenario([chunks(begun, hang), streamed()])
    const { app } = scenario
    const id = await startedRun(scenario)
    await cancelled(app, id)
    await runOver(app, (await queueRun(app, { input: 'b', previous_response_id: id })).id)
    expect(asked(scenario, 1)).toEqual(['How high is it?', 'It is ', 'b'])
  })
})

describe('a background run is rejected', () => {
  test('while its previous run is queued or active', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario([gatedAnswer(gate.promise), streamed()], {
      settings: { background: { concurrency: 1 } },
    })
    const { app, acme } = scenario
    const running = await startedRun(scenario)
    const queued = (await queueRun(app)).id
    for (const id of [running, queued]) {
      for (const background of [true, false]) {
        const reply = await respond(app, { background, previous_response_id: id })
        expect(await readError(reply)).toMatchObject(previousNotFound)
      }
    }
    expect(acme.requests.length).toBe(1)
    gate.resolve()
    for (const id of [running, queued]) await runOver(app, id)
    expect((await respond(app, { background: true, previous_response_id: running })).status).toBe(200)
  })

  test('when its previous response was deleted or belongs to another organization', async () => {
    await using paid = await startPaid(streamed())
    await paid.books.fund('other', '1')
    const headers = { authorization: `Bearer ${await paid.books.keyOf('other')}` }
    const { id } = await queueRun(paid.app)
    await runOver(paid.app, id)
    const body = { background: true, previous_response_id: id }
    expect(await readError(await respond(paid.app, body, { headers }))).toMatchObject(previousNotFound)
    await deleteRun(paid.app, id)
    expect(await readError(await respond(paid.app, body))).toMatchObject(previousNotFound)
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
  ['streamed', true, (gate) => chunks([...begun, gate, ...ended])],
])(
  'a foreground response (%s) whose previous response is deleted while it is generated',
  (_, stream, answer) => {
    test('can be continued later, and its deletion erases the previous one too', async () => {
      const gate = Promise.withResolvers<void>()
      await using paid = await startPaid([talk('one'), answer(gate.promise), whole()])
      const { app } = paid
      const first = await runOver(app, (await queueRun(app, { input: 'a' })).id)
      const answering = respond(app, { input: 'b', previous_response_id: first.id, stream })
      await paid.acme.request(1)
      expect((await deleteRun(app, first.id)).status).toBe(200)
      expect((await app.request(`/v1/responses/${first.id}`)).status).toBe(404)
      gate.resolve()
      const second = /resp_[0-9a-f]+/.exec(await (await answering).text())![0]
      const third = await responded(app, { input: 'c', previous_response_id: second })
      expect(third.status).toBe('completed')
      expect(asked(paid, 2)).toEqual(['a', 'one', 'b', stream ? 'It is four metres.' : 'two', 'c'])
      await deleteRun(app, second)
      await deleteRun(app, third.id)
      const left = paid.books.sqlite.query('SELECT count(*) FROM responses')
      while (left.values()[0]?.[0] !== 0) await app.request('/livez')
    })

    test.each<[string, Script]>([
      ['fails', json({ error: { message: 'No.' } }, { status: 400 })],
      ['is not to be stored', whole()],
    ])('leaves no row behind where it %s', async (why, script) => {
      await using paid = await startPaid([talk('one'), stream && why !== 'fails' ? streamed() : script])
      const { app } = paid
      const first = await runOver(app, (await queueRun(app)).id)
      const store = why === 'fails'
      await (await respond(app, { previous_response_id: first.id, stream, store })).text()
      expect((await deleteRun(app, first.id)).status).toBe(200)
      const left = paid.books.sqlite.query('SELECT count(*) FROM responses')
      while (left.values()[0]?.[0] !== 0) await app.request('/livez')
      expect(await retrieved(app, first.id).catch(() => undefined)).toBeUndefined()
    })
  },
)

import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { readError } from '../../support/chat-reply.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import {
  postResponse,
  createResponse,
  responsesPath,
  retrieveResponse,
  streamResponse,
} from '../../support/responses.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'

const turn = (content: string) => ({ role: 'user', content })
const providerReply = (content: string) => ({ role: 'assistant', content })
const saying = (text: string) => chatOutput({ text: [text] })

/** What the last question upstream was. */
function lastRequested({ acme }: Pick<Scenario, 'acme'>): unknown {
  return acme.requests.at(-1)?.body.messages
}

async function remove({ app }: Scenario, id: string): Promise<number> {
  return (await app.request(`${responsesPath}/${id}`, { method: 'DELETE' })).status
}

/** Says it, and gives the id of the answer. */
async function run({ app }: Scenario, input: string, more: object = {}): Promise<string> {
  return (await createResponse(app, { input, ...more })).id
}

describe('previous_response_id', () => {
  test('continues where a response ended, and is echoed', async () => {
    await using scenario = await startScenario([jsonReply(saying('Four.')), jsonReply(saying('Five.'))])
    const first = await run(scenario, 'How high?')
    const second = await createResponse(scenario.app, { input: 'And now?', previous_response_id: first })
    expect(second.previous_response_id).toBe(first)
    expect(lastRequested(scenario)).toEqual([turn('How high?'), providerReply('Four.'), turn('And now?')])
  })

  test('is valid from the terminal event on, before the stream has closed', async () => {
    await using scenario = await startScenario([streamReply(saying('Four.')), jsonReply()])
    const reply = await postResponse(scenario.app, { stream: true })
    const id = /resp_[0-9a-f]{32}/
    const reader = readPieces(reply)
    const text = await reader.until('event: response.completed')
    const next = await postResponse(scenario.app, { input: 'And?', previous_response_id: id.exec(text)?.[0] })
    expect(next.status).toBe(200)
    expect(lastRequested(scenario)).toEqual([turn('How high is it?'), providerReply('Four.'), turn('And?')])
    await reader.leave()
  })

  test('is invalid while its response is still being generated', async () => {
    await using scenario = await startScenario([chunks([delta({ content: 'Fo' })], hang), jsonReply()])
    const reader = readPieces(await postResponse(scenario.app, { stream: true }))
    const text = await reader.until('"delta":"Fo"')
    const id = /resp_[0-9a-f]{32}/.exec(text)?.[0]
    expect(await readError(await postResponse(scenario.app, { previous_response_id: id }))).toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    })
    await reader.leave()
  })

  test('continues a chain of a hundred responses', async () => {
    await using scenario = await startScenario(jsonReply(saying('a')))
    let previous: string | null = null
    for (let number = 0; number < 100; number++)
      previous = await run(scenario, `q${number}`, { previous_response_id: previous })
    const turns = Array.from({ length: 99 }, (_, number) => [turn(`q${number}`), providerReply('a')])
    expect(lastRequested(scenario)).toEqual([...turns.flat(), turn('q99')])
  })

  test('continues with another model of another provider', async () => {
    const model = { slug: 'other/lake', routes: [{ provider: 'other', model: 'lake-1' }] }
    await using scenario = await startScenario(jsonReply(saying('Four.')), { models: [model], other: [] })
    scenario.other.respondWith(jsonReply(saying('Deep.')))
    const first = await run(scenario, 'How high?')
    const second = await run(scenario, 'How deep?', { model: 'other/lake', previous_response_id: first })
    expect(scenario.other.requests.at(-1)?.body.messages).toEqual([
      turn('How high?'),
      providerReply('Four.'),
      turn('How deep?'),
    ])
    await run(scenario, 'Thanks.', { previous_response_id: second })
    expect(lastRequested(scenario)).toHaveLength(5)
  })

  test('may be used twice, which branches the conversation', async () => {
    await using scenario = await startScenario(jsonReply(saying('a')))
    const first = await run(scenario, 'q')
    for (const input of ['left', 'right']) {
      await run(scenario, input, { previous_response_id: first })
      expect(lastRequested(scenario)).toEqual([turn('q'), providerReply('a'), turn(input)])
    }
  })

  test('inherits neither instructions nor parameters', async () => {
    await using scenario = await startScenario(jsonReply())
    const values = { instructions: 'Be brief.', temperature: 0.5, metadata: { a: 'b' } }
    const first = await run(scenario, 'q', values)
    const second = await createResponse(scenario.app, { previous_response_id: first })
    expect(second).toMatchObject({ instructions: null, temperature: null, metadata: {} })
    expect(JSON.stringify(scenario.acme.requests.at(-1)?.body)).not.toMatch(/brief|temperature/)
  })

  test('is valid after an ancestor was deleted, and itself was not', async () => {
    await using scenario = await startScenario(jsonReply(saying('a')))
    const first = await run(scenario, 'q1')
    const second = await run(scenario, 'q2', { previous_response_id: first })
    const third = await run(scenario, 'q3', { previous_response_id: second })
    expect([await remove(scenario, first), await remove(scenario, second)]).toEqual([200, 200])
    await run(scenario, 'q4', { previous_response_id: third })
    const turns = ['q1', 'q2', 'q3'].flatMap((text) => [turn(text), providerReply('a')])
    expect(lastRequested(scenario)).toEqual([...turns, turn('q4')])
    expect((await postResponse(scenario.app, { previous_response_id: second })).status).toBe(400)
  })

  test('is accepted for a response that is not stored, which itself cannot be continued', async () => {
    await using scenario = await startScenario(jsonReply(saying('a')))
    const first = await run(scenario, 'q1')
    const second = await run(scenario, 'q2', { previous_response_id: first, store: false })
    expect(lastRequested(scenario)).toHaveLength(3)
    const reply = await postResponse(scenario.app, { previous_response_id: second })
    expect((await readError(reply)).message).toContain(second)
  })

  test('continues an incomplete response with its partial output', async () => {
    await using scenario = await startScenario([chunks([delta({ content: 'Fo' })]), jsonReply()])
    const { last } = await streamResponse(scenario.app)
    expect(last?.status).toBe('failed')
    await run(scenario, 'Go on.', { previous_response_id: last?.id })
    expect(lastRequested(scenario)).toEqual([turn('How high is it?'), providerReply('Fo'), turn('Go on.')])
  })

  test.each([
    ['a response that does not exist', `resp_${'0'.repeat(32)}`],
    ['a value that is not an id', 'abc'],
    ['an id of another kind', 'chatcmpl-1'],
  ])('of %s is a 400 that names it, and no provider is called', async (_, previous) => {
    await using scenario = await startScenario(jsonReply())
    const error = await readError(await postResponse(scenario.app, { previous_response_id: previous }))
    expect(error).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
    expect(error.message).toStartWith(`Previous response with id '${previous}' not found.`)
    expect(scenario.acme.requests).toEqual([])
  })
})

describe('item_reference', () => {
  test('is replaced by the input or output item that it names, in its place', async () => {
    await using scenario = await startScenario(jsonReply(chatOutput({ reasoning: ['Hm.'], text: ['Four.'] })))
    const first = await createResponse(scenario.app)
    const [thought, message] = first.output.map(({ id }) => id)
    const request = `msg_${first.id.slice(5)}i0`
    const input = [
      { type: 'item_reference', id: request },
      { type: 'item_reference', id: thought },
      { id: message },
      turn('And now?'),
    ]
    const second = await createResponse(scenario.app, { input })
    const conversation = [turn('How high is it?'), providerReply('Four.'), turn('And now?')]
    expect(lastRequested(scenario)).toEqual(conversation)
    expect(second).not.toHaveProperty('warnings')
    // What was referred to is the second response's own from then on.
    await remove(scenario, first.id)
    await run(scenario, 'Thanks.', { previous_response_id: second.id })
    expect(lastRequested(scenario)).toEqual([...conversation, providerReply('Four.'), turn('Thanks.')])
  })

  test('never finds an item of another response by the id that its sender gave it', async () => {
    await using scenario = await startScenario(jsonReply())
    await createResponse(scenario.app, { input: [{ ...turn('q'), id: 'msg_mine' }] })
    const reply = await postResponse(scenario.app, { input: [{ type: 'item_reference', id: 'msg_mine' }] })
    expect(await readError(reply)).toMatchObject({ status: 404, param: 'input', code: null })
  })

  test('to an item of a response that was deleted, or not stored, is a 404', async () => {
    await using scenario = await startScenario(jsonReply())
    const kept = await createResponse(scenario.app)
    const unkept = await createResponse(scenario.app, { store: false })
    await remove(scenario, kept.id)
    for (const { output } of [kept, unkept]) {
      const reply = await postResponse(scenario.app, {
        input: [{ type: 'item_reference', id: output[0]!.id }],
      })
      const { message, ...facts } = await readError(reply)
      expect(facts).toEqual({ status: 404, type: 'invalid_request_error', param: 'input', code: null })
      expect(message).toStartWith(`Item with id '${output[0]!.id}' not found.`)
    }
    expect(scenario.acme.requests).toHaveLength(2)
  })
})

test('a response is stored before its reply is sent', async () => {
  await using scenario = await startScenario(jsonReply())
  const response = await createResponse(scenario.app)
  expect(await retrieveResponse(scenario.app, response.id)).toEqual(response)
})

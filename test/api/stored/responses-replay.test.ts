import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import {
  readEvents,
  replayResponse,
  postResponse,
  createResponse,
  responsesPath,
  retrieveResponse,
  streamResponse,
} from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { hang, type Script } from '../../support/script.ts'
import { startOnce } from '../../support/start-once.ts'

const thoughtful = chatOutput({ reasoning: ['A gauge ', 'would know.'] })

const streams: Record<string, Script> = {
  'a complete output': streamReply(thoughtful),
  'an output that was cut short': streamReply(chatOutput({ finish: 'length' })),
  'an output that broke off': chunks([delta({ content: 'It is ' })]),
  'an empty output': streamReply(chatOutput({ text: [] })),
}

describe('a streamed response is replayed byte for byte', () => {
  test.each(Object.entries(streams))('from the start: %s', async (_, script) => {
    await using scenario = await startScenario(script)
    const { text, last } = await streamResponse(scenario.app)
    const again = await replayResponse(scenario.app, last!.id)
    expect(again.text).toBe(text)
    expect(again.headers.get('server-timing')).toBeNull()
    expect((await replayResponse(scenario.app, last!.id)).text).toBe(text)
  })

  test.each(Object.entries(streams))('from any sequence number: %s', async (_, script) => {
    await using scenario = await startScenario(script)
    const { events, last } = await streamResponse(scenario.app)
    for (const after of [-1, ...events.keys(), events.length, 9007199254740991]) {
      const rest = await replayResponse(scenario.app, last!.id, `starting_after=${after}`)
      expect(rest.events).toEqual(events.slice(after + 1))
      expect(rest.status).toBe(200)
    }
  })
})

test('a response that was not streamed is replayed as a stream of one delta', async () => {
  await using scenario = await startScenario(jsonReply(thoughtful))
  const response = await createResponse(scenario.app)
  const { events, types, last } = await replayResponse(scenario.app, response.id)
  expect(last).toEqual(response)
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
  expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
  const deltas = events.flatMap((event) => ('delta' in event ? [event.delta] : []))
  expect(deltas).toEqual(['A gauge would know.', 'It is four metres.'])
})

describe('a stored response is retrieved in the format of the query “stream”:', () => {
  const started = startOnce(async () => {
    const scenario = await startScenario(jsonReply())
    return { ...scenario, id: (await createResponse(scenario.app)).id }
  })

  test.each([
    ['stream=true', true],
    ['stream=1', true],
    ['stream=true&include%5B%5D=a&include_obfuscation=false', true],
    ['stream=false', false],
    ['stream=0', false],
    ['stream=', false],
    ['', false],
    ['starting_after=3', false],
    ['include[]=reasoning.encrypted_content', false],
  ])('from the start: %s', async (query, events) => {
    const { app, id } = await started()
    const reply = await app.request(`${responsesPath}/${id}?${query}`)
    const type = events ? 'text/event-stream; charset=utf-8' : 'application/json'
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type])
  })

  test.each(['abc', '', '1.5', '1e99', 'null'])('it is rejected with starting_after=%s', async (after) => {
    const { app, id } = await started()
    const reply = await app.request(`${responsesPath}/${id}?stream=true&starting_after=${after}`)
    expect(await readError(reply)).toMatchObject({ status: 400, param: 'starting_after' })
  })
})

describe('a response that is still being generated in the foreground', () => {
  const gated = () => {
    const gate = Promise.withResolvers<void>()
    const frames = [
      delta({ content: 'It is ' }),
      gate.promise,
      delta({ content: 'four.' }),
      delta({}, 'stop'),
    ]
    return { gate, script: chunks([...frames, 'data: [DONE]\n\n']) }
  }

  test('is retrieved in its current state, and followed to its end by other readers, with the same events', async () => {
    const { gate, script } = gated()
    await using scenario = await startScenario(script)
    const { reader, id, text } = await begin(scenario)
    expect(await retrieveResponse(scenario.app, id)).toMatchObject({ status: 'in_progress', usage: null })
    const path = `${responsesPath}/${id}?stream=true`
    const [follower, late] = await Promise.all([
      scenario.app.request(path),
      scenario.app.request(`${path}&starting_after=4`),
    ])
    gate.resolve()
    const original = text + (await reader.rest())
    const followed = await readEvents(follower)
    expect(followed.text).toBe(original)
    expect((await readEvents(late)).events).toEqual(followed.events.slice(5))
    expect((await replayResponse(scenario.app, id)).text).toBe(original)
  })

  test('sends its followers a cancellation when its client disconnects', async () => {
    await using scenario = await startScenario(chunks([delta({ content: 'It is ' })], hang))
    const { reader, id } = await begin(scenario)
    const follower = await scenario.app.request(`${responsesPath}/${id}?stream=true`)
    await reader.leave()
    const { last, types } = await readEvents(follower)
    expect(types.at(-1)).toBe('response.incomplete')
    expect(last).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
  })

  test('continues when a follower disconnects', async () => {
    const { gate, script } = gated()
    await using scenario = await startScenario(script)
    const { reader, id } = await begin(scenario)
    const follower = readPieces(await scenario.app.request(`${responsesPath}/${id}?stream=true`))
    await follower.until('It is ')
    await follower.leave()
    gate.resolve()
    expect(await reader.rest()).toContain('event: response.completed')
    expect((await retrieveResponse(scenario.app, id)).status).toBe('completed')
  })

  test('does not exist for other readers where it is not stored', async () => {
    const { gate, script } = gated()
    await using scenario = await startScenario(script)
    const { reader, id } = await begin(scenario, { store: false })
    expect((await scenario.app.request(`${responsesPath}/${id}`)).status).toBe(404)
    expect((await scenario.app.request(`${responsesPath}/${id}?stream=true`)).status).toBe(404)
    gate.resolve()
    await reader.rest()
  })

  test('can be neither deleted nor cancelled', async () => {
    const { gate, script } = gated()
    await using scenario = await startScenario(script)
    const { reader, id } = await begin(scenario)
    const path = `${responsesPath}/${id}`
    const removal = await readError(await scenario.app.request(path, { method: 'DELETE' }))
    expect(removal).toMatchObject({ status: 400, param: null, code: null })
    expect(removal.message).toStartWith('Cannot delete a response that is in progress.')
    const cancel = await readError(await scenario.app.request(`${path}/cancel`, { method: 'POST' }))
    expect(cancel).toMatchObject({ status: 400, message: 'Cannot cancel a synchronous response.' })
    gate.resolve()
    expect(await reader.rest()).toContain('event: response.completed')
    expect((await scenario.app.request(path, { method: 'DELETE' })).status).toBe(200)
  })

  /** Asks for a stream and reads up to its first word. */
  async function begin({ app }: Awaited<ReturnType<typeof startScenario>>, more: object = {}) {
    const reader = readPieces(await postResponse(app, { stream: true, ...more }))
    const text = await reader.until('"delta":"It is "')
    return { reader, text, id: /resp_[0-9a-f]{32}/.exec(text)![0] }
  }
})

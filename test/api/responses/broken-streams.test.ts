import { describe, expect, test } from 'bun:test'
import { assemble } from '../../unit/api/responses/support/step-order.ts'
import { readPieces } from '../../support/body-reader.ts'
import { readError } from '../../support/chat-reply.ts'
import { chunks, delta, framesOf, chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import {
  readEvents,
  replayResponse,
  postResponse,
  retrieveResponse,
  streamResponse,
  textOf,
} from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { breakOff, events, json, jsonPieces, reset, type Script } from '../../support/script.ts'
import { sharedDatabase } from '../../support/limits.ts'
import { openBillingDatabase } from '../../support/billing-database.ts'

const opening = delta({ role: 'assistant', content: 'It is ' })
const failure = { error: { message: 'Down.', type: 'server_error' } }
const settings = { timeouts: { idle: '100ms' } } as const

const deaths: Record<string, Script> = {
  'the body ends without a finish': chunks([opening]),
  'an error comes in the stream': chunks([opening, failure]),
  'an event is not JSON': chunks([opening, 'data: {"cho\n\n']),
}

describe('a provider that fails in the middle of a response', () => {
  test.each(Object.entries(deaths))(
    'ends its stream with an error and response.failed: %s',
    async (_, script) => {
      await using scenario = await startScenario(script)
      const { status, events, types, last, text } = await streamResponse(scenario.app)
      expect(status).toBe(200)
      expect(types.slice(-2)).toEqual(['error', 'response.failed'])
      expect(types.filter((type) => /error|failed|completed|incomplete/.test(type))).toHaveLength(2)
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
      const error = events.at(-2)
      expect(error).toMatchObject({ code: 'upstream_unavailable', param: null })
      expect(error).toMatchObject({ message: expect.stringMatching(/ \(server error\)\.$/) })
      expect(error).toMatchObject({
        error: { type: 'server_error', code: 'upstream_unavailable', param: null },
      })
      expect(last).toMatchObject({ status: 'failed', error: { code: 'server_error' }, completed_at: null })
      expect(last?.output).toMatchObject([{ status: 'incomplete' }])
      expect(textOf(last!)).toBe('It is ')
      expect(assemble(events).end).toEqual(last)
      expect(text).not.toContain('[DONE]')
      expect(text).not.toContain(new URL(scenario.acme.url).host)
      const { id } = last!
      expect(await retrieveResponse(scenario.app, id)).toEqual(last!)
      expect((await replayResponse(scenario.app, id)).text).toBe(text)
    },
  )

  test('by closing its connection ends it with an error', async () => {
    const received = Promise.withResolvers<void>()
    await using scenario = await startScenario(chunks([opening, received.promise], breakOff))
    const reader = readPieces(await postResponse(scenario.app, { stream: true }))
    await reader.until('"delta":"It is "')
    received.resolve()
    const rest = await reader.rest()
    expect(rest).toContain('event: error\n')
    expect(rest).toContain('"status":"failed"')
  })

  test('is reported in the log, without the output', async () => {
    await using scenario = await startScenario(chunks([opening]))
    const { headers } = await streamResponse(scenario.app)
    expect(scenario.app.lines).toHaveLength(1)
    expect(scenario.app.lines[0]).toContain(headers.get('x-request-id')!)
    expect(scenario.app.lines[0]).not.toContain('It is')
  })

  test('by exceeding its idle timeout ends it with an error', async () => {
    const forever = new Promise(() => {})
    const script = chunks([opening, forever])
    await using scenario = await startScenario(script, { acme: settings })
    const { last } = await streamResponse(scenario.app)
    expect(last).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
  })
})

describe('a failure before the first event is a plain error, and nothing is stored', () => {
  const refusals: readonly (readonly [string, Script, number, string])[] = [
    [
      'an error of the provider',
      json({ error: { message: 'Down.' } }, { status: 500 }),
      502,
      'upstream_unavailable',
    ],
    [
      'a refusal of the input',
      json({ error: { message: 'No.' } }, { status: 400 }),
      400,
      'upstream_rejected',
    ],
    [
      'a limit of the provider',
      json({ error: { message: 'Slow.' } }, { status: 429 }),
      502,
      'upstream_rate_limited',
    ],
    ['a connection that breaks', reset, 502, 'upstream_unavailable'],
    ['a first event that is an error', chunks([failure]), 502, 'upstream_unavailable'],
    ['a complete reply that breaks off', jsonPieces(['{"cho'], breakOff), 502, 'upstream_unavailable'],
  ]

  test.each([...refusals])('%s', async (_, script, status, code) => {
    const { location } = await sharedDatabase()
    await using scenario = await startScenario(script, { database: location })
    for (const stream of [true, false]) {
      const reply = await postResponse(scenario.app, { stream })
      expect(reply.headers.get('content-type')).toStartWith('application/json')
      expect(await readError(reply)).toMatchObject({ status, code, param: null })
    }
    await using billing = await openBillingDatabase(location)
    expect(await billing.values('SELECT count(*) FROM responses')).toEqual([[0]])
    expect((await billing.waitForUsage(2)).map((row) => [row.api, row.status])).toEqual([
      ['responses', status],
      ['responses', status],
    ])
  })

  test('the next route serves the response, which names it', async () => {
    const script = json({ error: { message: 'Down.' } }, { status: 500 })
    await using scenario = await startScenario(script, { other: [events(framesOf(chatOutput()))] })
    const { last } = await streamResponse(scenario.app)
    expect(last).toMatchObject({ status: 'completed', provider: 'other' })
    expect(scenario.acme.requests).toHaveLength(1)
  })
})

describe('a stream that is accepted and then silent', () => {
  test('is opened, and emits the events that follow', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(events([gate.promise, ...framesOf(chatOutput())]), {
      patience: 10,
    })
    const reply = await postResponse(scenario.app, { stream: true })
    expect(reply.status).toBe(200)
    gate.resolve()
    const { last, types } = await readEvents(reply)
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    expect(last).toMatchObject({ status: 'completed', provider: 'acme' })
  })

  test('fails where the first event is an error, and is stored as failed', async () => {
    const gate = Promise.withResolvers<void>()
    const frames = ['data: {"error":{"message":"No.","code":503}}\n\n']
    const options = { patience: 10, other: [jsonReply()] }
    await using scenario = await startScenario(events([gate.promise, ...frames]), options)
    const reply = await postResponse(scenario.app, { stream: true })
    gate.resolve()
    const { last, types } = await readEvents(reply)
    expect(types).toEqual(['response.created', 'response.in_progress', 'error', 'response.failed'])
    expect(last).toMatchObject({ status: 'failed', output: [] })
    expect(await retrieveResponse(scenario.app, last!.id)).toEqual(last!)
    expect(scenario.other.requests).toEqual([])
  })
})

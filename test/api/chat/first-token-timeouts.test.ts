import { describe, expect, test } from 'bun:test'
import { queueRun, waitForRun } from '../../support/background.ts'
import { maxCost, replyCost, startBillingScenario } from '../../support/billing-scenario.ts'
import {
  chatOutput,
  chunks,
  delta,
  framesOf,
  jsonReply,
  streamReply,
  usage,
} from '../../support/chat-fixtures.ts'
import { readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { streamResponse, textOf } from '../../support/responses.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { breakOff, events, hang, jsonPieces, silence } from '../../support/script.ts'

const streamRequest = { ...chatRequest, stream: true }
/** Longer than a slow machine takes to get the first token of the other route. */
const model = { timeouts: { first_token: '2s' } }
const within = (timeout: string) => ({ headers: { 'x-weir-first-token-timeout': timeout } })
const other = [streamReply()]
const role = delta({ role: 'assistant', content: '' })

/** How often the two routes were called. */
const calls = ({ acme, other }: Scenario) => [acme.requests.length, other.requests.length]

describe.concurrent('a route that sends no token of a stream in the time of the model', () => {
  test.each([
    ['takes the request and stays silent', silence],
    ['sends its headers and no event', events([], hang)],
    ['sends comments and no event', events([': hello\n\n'], hang)],
    [
      'sends the pages that it has found, and no token',
      chunks([{ ...role, citations: ['https://river.example'] }], hang),
    ],
    ['sends a role and its usage, and no token', chunks([role, { choices: [], usage }], hang)],
  ])('is left for the next one: it %s', async (_, script) => {
    await using scenario = await startScenario(script, {
      model,
      other,
      settings: { retries: { attempts: 3 } },
    })
    const reply = await readStreamed(await scenario.app.chat(streamRequest))
    expect([reply.status, reply.done, calls(scenario)]).toEqual([200, true, [1, 1]])
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
  })

  test('is left even after the time at which a silent stream is handed over', async () => {
    await using scenario = await startScenario(events([], hang), { model, other, patience: 20 })
    expect((await readStreamed(await scenario.app.chat(streamRequest))).done).toBe(true)
    expect(calls(scenario)).toEqual([1, 1])
  })

  test('is left in the other APIs, and by background runs', async () => {
    const scripts = [silence, silence, silence]
    await using scenario = await startScenario(scripts, { model, other: [...other, ...other, ...other] })
    const { app } = scenario
    const { last } = await streamResponse(app)
    expect(last && [last.status, textOf(last)]).toEqual(['completed', 'It is four metres.'])
    const message = { model: 'acme/river', max_tokens: 10, stream: true, messages: chatRequest.messages }
    const reply = await app.request('/v1/messages', { method: 'POST', body: message })
    expect(await reply.text()).toContain('event: message_stop')
    expect(await waitForRun(app, (await queueRun(app)).id)).toMatchObject({ status: 'completed' })
    expect(calls(scenario)).toEqual([3, 3])
  })

  test('ends the request with a 502 if it is the last one', async () => {
    const quick = { timeouts: { first_token: '300ms' } }
    await using scenario = await startScenario(silence, { model: quick })
    expect(await readError(await scenario.app.chat(streamRequest))).toMatchObject({
      status: 502,
      code: 'upstream_timeout',
      message: 'The provider acme timed out: it sent no token in time.',
    })
  })

  test('is skipped after the configured number of failures', async () => {
    const settings = { breaker: { failures: 1 } }
    await using scenario = await startScenario(silence, { model, other, settings, clock: () => 0 })
    for (const _ of [1, 2, 3]) await readStreamed(await scenario.app.chat(streamRequest))
    expect(calls(scenario)).toEqual([1, 3])
  })

  test('is not charged, whatever it has reported; the answer is', async () => {
    const begun = chunks([{ choices: [], usage: { ...usage, prompt_tokens: 5000 } }], hang)
    await using paid = await startBillingScenario(begun, { model, other })
    await readStreamed(await paid.app.chat(streamRequest))
    expect(await paid.billing.entries()).toEqual([
      ['credit', 1_000_000_000],
      ['charge', -replyCost],
    ])
    await paid.billing.expectConsistent()
  })
})

test('a stream that fails before its first token is followed by the next route', async () => {
  const cut = chunks([role, { choices: [], usage }], breakOff)
  await using scenario = await startScenario(cut, { model: { timeouts: { first_token: '10m' } }, other })
  expect((await readStreamed(await scenario.app.chat(streamRequest))).done).toBe(true)
  expect(calls(scenario)).toEqual([1, 1])
})

test('a stream whose first token is in time may pause for longer, and loses no event', async () => {
  const [first = '', second = '', ...rest] = framesOf(chatOutput())
  const paused = events([first, second, Bun.sleep(2500), ...rest])
  const options = { model: { timeouts: { first_token: '2s' } }, other }
  await using scenario = await startScenario(paused, options)
  const reply = await readStreamed(await scenario.app.chat(streamRequest))
  expect([reply.done, calls(scenario)]).toEqual([true, [1, 0]])
  expect(reply.text).toContain('It is ')
})

test('a reply that is not streamed has no first token', async () => {
  const gate = Promise.withResolvers<void>()
  const [reply] = [
    JSON.stringify({ choices: [{ index: 0, message: { content: 'Yes.' }, finish_reason: 'stop' }] }),
  ]
  await using scenario = await startScenario(jsonPieces([gate.promise, reply]), {
    model,
    other: [jsonReply()],
  })
  const requesting = scenario.app.chat(chatRequest, within('100ms'))
  await scenario.acme.request(0)
  setTimeout(gate.resolve, 600)
  expect((await readCompletion(await requesting)).provider).toBe('acme')
})

describe.concurrent('the timeout that a caller sets for the first token', () => {
  test('precedes that of the model', async () => {
    const options = { model: { timeouts: { first_token: '10m' } }, other }
    await using scenario = await startScenario(silence, options)
    const reply = await readStreamed(await scenario.app.chat(streamRequest, within('2s')))
    expect([reply.done, calls(scenario)]).toEqual([true, [1, 1]])
  })

  test('costs the prompts of the routes that it ends, which are reserved with the answer', async () => {
    await using paid = await startBillingScenario(silence, { other: [streamReply(), silence] })
    const entry = async (index: number) => Number((await paid.billing.entries())[index]?.[1])
    const reserved = paid.acme.request(0).then(async () => (await paid.billing.account())[1])
    await readStreamed(await paid.app.chat(streamRequest, within('500ms')))
    await paid.billing.waitForUsage(1)
    expect(await reserved).toBe(2 * maxCost)
    expect(await entry(1)).toBeLessThan(-replyCost)
    paid.acme.respondWith(silence)
    expect((await paid.app.chat(streamRequest, within('500ms'))).status).toBe(502)
    const rows = await paid.billing.waitForUsage(2)
    expect(rows.map(({ status }) => status).toSorted()).toEqual([200, 502])
    // Two prompts, and no more than was reserved.
    expect(await entry(2)).toBeLessThan(0)
    expect(await entry(2)).toBeGreaterThanOrEqual(-2 * maxCost)
    expect(await paid.billing.openReservations()).toBe(0)
    await paid.billing.expectConsistent()
  })

  test('never opens the circuit of a route', async () => {
    const settings = { breaker: { failures: 1 } }
    await using scenario = await startScenario(silence, { other, settings, clock: () => 0 })
    for (const _ of [1, 2]) await readStreamed(await scenario.app.chat(streamRequest, within('2s')))
    expect(calls(scenario)).toEqual([2, 2])
  })

  test.each(['5', '0s', '99ms', '601s', '1h', 'soon', '-1s', ''])(
    'is a 400 out of its bounds: %j',
    async (text) => {
      await using scenario = await startScenario([])
      expect(await readError(await scenario.app.chat(streamRequest, within(text)))).toMatchObject({
        status: 400,
        code: 'invalid_value',
        param: 'x-weir-first-token-timeout',
      })
      const response = { model: 'acme/river', input: 'Hi', stream: true }
      const options = { method: 'POST', body: response, ...within(text) }
      expect((await scenario.app.request('/v1/responses', options)).status).toBe(400)
      expect(calls(scenario)).toEqual([0, 0])
    },
  )
})

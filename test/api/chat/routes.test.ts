import { describe, expect, test } from 'bun:test'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { joinChunks, readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { breakOff, events, json, reset, type Script } from '../../support/script.ts'

const failed = (status: number, headers: Record<string, string> = {}) =>
  json({ error: { message: 'No.' } }, { status, headers })

const retries = (attempts: number): ScenarioOptions => ({ settings: { retries: { attempts } } })

function requested({ acme, other }: Scenario): number[] {
  return [acme.requests.length, other.requests.length]
}

test('an error names each provider that has failed, once', async () => {
  const noModel = json({ error: { message: 'No such model.' } }, { status: 404 })
  await using scenario = await startScenario(failed(401), { ...retries(0), other: [noModel] })
  expect(await readError(await scenario.app.chat(chatRequest))).toMatchObject({
    message:
      'The provider acme rejected the API key of the gateway. The provider other does not have this model.',
    code: 'upstream_model_not_found',
  })
  for (const engine of [scenario.acme, scenario.other]) await engine[Symbol.asyncDispose]()
  const message = ['acme', 'other']
    .map((name) => `The provider ${name} failed: the connection failed (ECONNREFUSED).`)
    .join(' ')
  for (let call = 0; call < 2; call++) {
    const reply = await scenario.app.chat(chatRequest)
    expect(await readError(reply)).toMatchObject({ status: 502, code: 'upstream_unavailable', message })
  }
})

describe('a route that fails', () => {
  const passing: readonly (readonly [string, Script])[] = [
    ['500', failed(500)],
    ['429', failed(429)],
    ['429 with a short retry-after', failed(429, { 'retry-after': '2' })],
    ['a broken connection', reset],
    ['an unreadable response', json('<html>')],
  ]
  const lasting: readonly (readonly [string, Script])[] = [
    ['429 with a long retry-after', failed(429, { 'retry-after': '3' })],
    ['401', failed(401)],
    ['402', failed(402)],
    ['404', failed(404)],
  ]

  test.each([...passing])('is retried: %s', async (_, script) => {
    await using scenario = await startScenario([script, jsonReply()], { ...retries(2), other: [jsonReply()] })
    expect((await readCompletion(await scenario.app.chat(chatRequest))).provider).toBe('acme')
    expect(requested(scenario)).toEqual([2, 0])
  })

  test.each([...lasting])('is not retried, but the next one is called: %s', async (_, script) => {
    await using scenario = await startScenario([script, jsonReply()], { ...retries(2), other: [jsonReply()] })
    const completion = await readCompletion(await scenario.app.chat(chatRequest))
    expect(completion).toMatchObject({ provider: 'other', model: 'acme/river' })
    expect(scenario.other.requests[0]?.body.model).toBe('river-2')
    expect(requested(scenario)).toEqual([1, 1])
  })

  test.each([400, 413, 422])(
    'is neither retried nor followed by another where the client is at fault: %d',
    async (status) => {
      await using scenario = await startScenario(failed(status), { ...retries(2), other: [jsonReply()] })
      expect((await scenario.app.chat(chatRequest)).status).toBe(400)
      expect(requested(scenario)).toEqual([1, 0])
    },
  )

  test('is retried, and so is the next one; the client gets the failure of the last', async () => {
    await using scenario = await startScenario(failed(500), { ...retries(1), other: [failed(429)] })
    expect(await readError(await scenario.app.chat(chatRequest))).toMatchObject({
      code: 'upstream_rate_limited',
    })
    expect(requested(scenario)).toEqual([2, 2])
  })

  test('is called once where no retries are configured', async () => {
    await using scenario = await startScenario([failed(500), jsonReply()], retries(0))
    expect((await scenario.app.chat(chatRequest)).status).toBe(502)
    expect(requested(scenario)).toEqual([1, 0])
  })
})

describe('a stream that fails before its first event', () => {
  const early: readonly (readonly [string, Script])[] = [
    ['a status', failed(503)],
    ['an error event', events(['data: {"error":{"message":"No."}}\n\n'])],
    ['no event', events([])],
    ['a role and nothing more', chunks([delta({ role: 'assistant', content: '' })], breakOff)],
  ]

  test.each([...early])(
    'is replaced by the next route, and nothing of the first is visible: %s',
    async (_, script) => {
      await using scenario = await startScenario(script, {
        other: [streamReply(chatOutput({ text: ['From the other.'] }))],
      })
      const reply = await readStreamed(await scenario.app.chat({ ...chatRequest, stream: true }))
      expect(joinChunks(reply.chunks)[0]).toMatchObject({ text: 'From the other.', finish: 'stop' })
      expect(new Set(reply.chunks.map(({ provider }) => provider))).toEqual(new Set(['other']))
      expect(reply.error).toBeUndefined()
      expect(requested(scenario)).toEqual([1, 1])
    },
  )

  test('is an HTTP status where there is no other route', async () => {
    await using scenario = await startScenario(events([]))
    expect((await scenario.app.chat({ ...chatRequest, stream: true })).status).toBe(502)
  })
})

test('the warnings are those of the route that served the request', async () => {
  const strict = { acme: { kind: 'mistral' }, other: [jsonReply()] }
  await using scenario = await startScenario([failed(500), jsonReply()], strict)
  const body = { ...chatRequest, top_k: 5 }
  const second = await readCompletion(await scenario.app.chat(body))
  expect(second.provider).toBe('other')
  expect(second).not.toHaveProperty('warnings')
  const first = await readCompletion(await scenario.app.chat(body))
  expect(first).toMatchObject({ provider: 'acme', warnings: [expect.stringContaining('top_k')] })
})

describe('a route that failed repeatedly', () => {
  const settings = { retries: { attempts: 0 }, breaker: { failures: 2 } }
  const options = { settings, clock: () => 0 }

  test('is skipped, and the next one is called immediately', async () => {
    await using scenario = await startScenario(failed(500), { ...options, other: [jsonReply()] })
    for (let call = 0; call < 4; call++) expect((await scenario.app.chat(chatRequest)).status).toBe(200)
    expect(requested(scenario)).toEqual([2, 4])
  })

  test('is called anyway where there is no other', async () => {
    await using scenario = await startScenario(failed(500), options)
    for (let call = 0; call < 5; call++) {
      const response = await scenario.app.chat(chatRequest)
      expect(response.headers.get('retry-after')).toBeNull()
      expect(await readError(response)).toMatchObject({ status: 502, code: 'upstream_unavailable' })
    }
    scenario.acme.respondWith(jsonReply())
    expect((await scenario.app.chat(chatRequest)).status).toBe(200)
    expect(requested(scenario)).toEqual([6, 0])
  })

  test.each([400, 401, 404, 429])('is still called where it responded with %d', async (status) => {
    await using scenario = await startScenario(failed(status), options)
    for (let call = 0; call < 3; call++) await scenario.app.chat(chatRequest)
    expect(requested(scenario)).toEqual([3, 0])
  })

  test('is still called where a success interrupted its failures', async () => {
    const scripts = [failed(500), jsonReply(), failed(500), jsonReply()]
    await using scenario = await startScenario(scripts, options)
    for (let call = 0; call < 4; call++) await scenario.app.chat(chatRequest)
    expect((await scenario.app.chat(chatRequest)).status).toBe(200)
  })
})

test('routes with weights are chosen in proportion to them', async () => {
  const routes = [
    { provider: 'acme', model: 'a', weight: 0 },
    { provider: 'other', model: 'b', weight: 5 },
  ]
  await using scenario = await startScenario(jsonReply(), { model: { routes }, other: [jsonReply()] })
  for (let call = 0; call < 3; call++) await scenario.app.chat(chatRequest)
  expect(requested(scenario)).toEqual([0, 3])
})

import { describe, expect, test } from 'bun:test'
import { restartUpstream } from '../../support/upstream.ts'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { json, silence } from '../../support/script.ts'

const failed = (status: number, headers: Record<string, string> = {}) =>
  json({ error: { message: 'No.' } }, { status, headers })

/** A clock that stands still until the test moves it, and the settings of every scenario here. */
function timed(options: ScenarioOptions = {}, attempts = 0) {
  const time = { now: 0 }
  const settings = { retries: { attempts }, ...options.settings }
  return { time, options: { ...options, settings, clock: () => time.now } }
}

/** Both engines are gone: their ports refuse connections. */
async function stop(...engines: readonly AsyncDisposable[]): Promise<void> {
  for (const engine of engines) await engine[Symbol.asyncDispose]()
}

async function servedBy({ app }: Scenario): Promise<string | undefined> {
  return (await readCompletion(await app.chat(chatRequest))).provider
}

/** An engine whose certificate nobody has signed. */
function serveTls() {
  const folder = `${import.meta.dir}/../../fixtures/tls`
  const tls = { cert: Bun.file(`${folder}/certificate.pem`), key: Bun.file(`${folder}/key.pem`) }
  return Bun.serve({ hostname: '127.0.0.1', port: 0, tls, fetch: () => new Response('{}') })
}

/** What was tried for a call, as its line in the log has it. */
async function attemptsOf({ app }: Scenario, reply: Response): Promise<string[]> {
  const { attempts = [] } = await app.requestLines.of(reply)
  return (attempts as { provider: string; outcome: string }[]).map(
    ({ provider, outcome }) => `${provider} ${outcome}`,
  )
}

/** Resolves once the breaker has heard that the provider cannot be reached. */
async function outAt({ app }: Scenario, provider: string): Promise<void> {
  const sample = `weir_breaker_open{provider="${provider}"`
  while (!(await (await app.request('/metrics')).text()).includes(sample)) await Bun.sleep(5)
}

describe('the only local engine of a model', () => {
  test('is called by every request while it is down, and serves the first one after it is back', async () => {
    const { options } = timed()
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    for (let call = 0; call < 10; call++) {
      const reply = await scenario.app.chat(chatRequest)
      expect(reply.headers.get('retry-after')).toBeNull()
      expect(await readError(reply)).toMatchObject({ status: 502, code: 'upstream_unavailable' })
      expect(await attemptsOf(scenario, reply)).toEqual(['acme upstream_unavailable'])
    }
    await using back = await restartUpstream(scenario.acme, jsonReply())
    expect((await scenario.app.chat(chatRequest)).status).toBe(200)
    expect(back.requests).toHaveLength(1)
  })

  test('may restart while a request waits', async () => {
    const { options } = timed({}, 10)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    const requesting = scenario.app.chat({ ...chatRequest, stream: true })
    await outAt(scenario, 'acme')
    await using _ = await restartUpstream(scenario.acme, streamReply())
    expect((await readStreamed(await requesting)).done).toBe(true)
  })
})

describe('an unreachable engine among several', () => {
  test('is skipped after its first refused connection, and called again within a second of its return', async () => {
    const { time, options } = timed({ other: [jsonReply()] }, 2)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    const first = await scenario.app.chat(chatRequest)
    expect(await attemptsOf(scenario, first)).toEqual(['acme upstream_unavailable', 'other ok'])
    const second = await scenario.app.chat(chatRequest)
    expect(await attemptsOf(scenario, second)).toEqual(['acme circuit_open', 'other ok'])
    time.now = 1000
    const probe = await scenario.app.chat(chatRequest)
    expect(await attemptsOf(scenario, probe)).toEqual(['acme upstream_unavailable', 'other ok'])
    await using back = await restartUpstream(scenario.acme, jsonReply())
    expect(await servedBy(scenario)).toBe('other')
    time.now = 2000
    expect([await servedBy(scenario), await servedBy(scenario)]).toEqual(['acme', 'acme'])
    expect(back.requests).toHaveLength(2)
  })

  test('is probed by one of several concurrent requests', async () => {
    const { time, options } = timed({ other: [jsonReply()] }, 2)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    await servedBy(scenario)
    await using back = await restartUpstream(scenario.acme, silence)
    time.now = 1000
    const probe = scenario.app.chat(chatRequest)
    await back.request(0)
    expect(await Promise.all([1, 2, 3].map(() => servedBy(scenario)))).toEqual(['other', 'other', 'other'])
    await stop(back)
    expect((await readCompletion(await probe)).provider).toBe('other')
    expect(back.requests).toHaveLength(1)
  })

  test('costs the request that probes it one attempt where it replies with failures', async () => {
    const { time, options } = timed({ other: [jsonReply()] }, 3)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    await servedBy(scenario)
    await using back = await restartUpstream(scenario.acme, failed(503))
    time.now = 1000
    expect(await servedBy(scenario)).toBe('other')
    expect(back.requests).toHaveLength(1)
  })

  test('is excluded from weighted routing', async () => {
    const routes = [
      { provider: 'acme', model: 'a', weight: 1_000_000 },
      { provider: 'other', model: 'b', weight: 1 },
    ]
    const { time, options } = timed({ model: { routes }, other: [jsonReply()] }, 2)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    for (let call = 0; call < 5; call++) expect(await servedBy(scenario)).toBe('other')
    await using _ = await restartUpstream(scenario.acme, jsonReply())
    time.now = 1000
    expect(await servedBy(scenario)).toBe('acme')
  })

  test('whose certificate is not trusted is skipped like one that refuses connections', async () => {
    const { options } = timed({ other: [jsonReply()] }, 2)
    await using untrusted = serveTls()
    const acme = { base_url: `${untrusted.url.origin}/v1` }
    await using scenario = await startScenario(jsonReply(), { ...options, acme })
    const first = await scenario.app.chat(chatRequest)
    expect(await attemptsOf(scenario, first)).toEqual(['acme upstream_unavailable', 'other ok'])
    const second = await scenario.app.chat(chatRequest)
    expect(await attemptsOf(scenario, second)).toEqual(['acme circuit_open', 'other ok'])
  })

  test('is still called where the other one is unreachable too', async () => {
    const { options } = timed({ other: [jsonReply(), failed(401)] })
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme)
    expect(await servedBy(scenario)).toBe('other')
    await using _ = await restartUpstream(scenario.acme, jsonReply())
    const reply = await scenario.app.chat(chatRequest)
    expect((await readCompletion(reply)).provider).toBe('acme')
    const tried = ['acme circuit_open', 'other provider_key_rejected', 'acme ok']
    expect(await attemptsOf(scenario, reply)).toEqual(tried)
  })
})

describe('an engine that timed out', () => {
  const slow: ScenarioOptions = {
    acme: { timeouts: { first_byte: '500ms' } },
    settings: { breaker: { failures: 1 } },
  }

  test('is not called again until its cooldown is over, also where the other one fails', async () => {
    const { time, options } = timed({ ...slow, other: [jsonReply(), failed(429), jsonReply()] })
    await using scenario = await startScenario([silence, jsonReply()], options)
    expect(await servedBy(scenario)).toBe('other')
    const reply = await scenario.app.chat(chatRequest)
    expect(await attemptsOf(scenario, reply)).toEqual(['acme circuit_open', 'other upstream_rate_limited'])
    time.now = 29_999
    expect(await servedBy(scenario)).toBe('other')
    time.now = 30_000
    expect(await servedBy(scenario)).toBe('acme')
  })

  test('is called where the other one cannot serve the request', async () => {
    const { options } = timed({ ...slow, other: [failed(401)] })
    await using scenario = await startScenario([silence, jsonReply()], options)
    expect((await scenario.app.chat(chatRequest)).status).toBe(502)
    expect(await servedBy(scenario)).toBe('acme')
  })
})

describe('several engines that are all unreachable', () => {
  test('are each called in each round of retries, and the first to return serves immediately', async () => {
    const { options } = timed({ other: [jsonReply()] }, 1)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme, scenario.other)
    const round = ['acme upstream_unavailable', 'other upstream_unavailable']
    for (let call = 0; call < 3; call++) {
      const reply = await scenario.app.chat(chatRequest)
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([502, null])
      expect(await attemptsOf(scenario, reply)).toEqual([...round, ...round])
    }
    await using _ = await restartUpstream(scenario.other, jsonReply())
    expect([await servedBy(scenario), await servedBy(scenario)]).toEqual(['other', 'other'])
  })

  test('may restart while a request waits', async () => {
    const { options } = timed({ other: [jsonReply()] }, 10)
    await using scenario = await startScenario(jsonReply(), options)
    await stop(scenario.acme, scenario.other)
    const requesting = servedBy(scenario)
    await outAt(scenario, 'other')
    await using _ = await restartUpstream(scenario.acme, jsonReply())
    expect(await requesting).toBe('acme')
  })
})

test('an engine whose availability alternates never fails a request', async () => {
  const { time, options } = timed({ other: [jsonReply()] }, 1)
  await using scenario = await startScenario(jsonReply(), options)
  await stop(scenario.acme)
  for (let round = 0; round < 5; round++) {
    expect(await servedBy(scenario)).toBe('other')
    time.now += 1000
    await using back = await restartUpstream(scenario.acme, jsonReply())
    expect(await servedBy(scenario)).toBe('acme')
    expect(back.requests).toHaveLength(1)
  }
})

describe('the retry-after header of a request whose routes have all failed', () => {
  test.each([
    ['is the shortest', failed(429, { 'retry-after': '9' }), failed(503, { 'retry-after': '4' }), '4'],
    [
      'is the shortest, also of the first',
      failed(429, { 'retry-after': '4' }),
      failed(429, { 'retry-after': '9' }),
      '4',
    ],
    ['is absent where one may recover at any time', failed(500), failed(429, { 'retry-after': '9' }), null],
    ['ignores a route that cannot serve the request', failed(429, { 'retry-after': '7' }), failed(401), '7'],
  ])('%s', async (_, first, second, retryAfter) => {
    await using scenario = await startScenario(first, { other: [second] })
    const { status, headers } = await scenario.app.chat(chatRequest)
    expect([status, headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([
      502,
      retryAfter,
      null,
    ])
  })
})

import { describe, expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { messageRequest, startAnthropicScenario } from '../../support/messages.ts'
import { providerKey, startScenario } from '../../support/scenario.ts'
import type { App } from '../../support/app.ts'
import { events, hang, json, jsonPieces, type Script, silence } from '../../support/script.ts'

const { max_tokens: _, ...prompt } = messageRequest

function countTokens(app: App, body: object = prompt, signal?: AbortSignal): Promise<Response> {
  const headers = { 'anthropic-beta': 'a-beta' }
  return app.request('/v1/messages/count_tokens', { body, headers, ...(signal && { signal }) })
}

describe('the tokens of a message are counted by Anthropic', () => {
  test('from the prompt as the caller wrote it', async () => {
    await using scenario = await startAnthropicScenario(json({ input_tokens: 1234 }))
    const body = {
      ...prompt,
      system: 'Be brief.',
      tools: [{ name: 'f', input_schema: {} }],
      thinking: { type: 'adaptive' },
    }
    const reply = await countTokens(scenario.app, { ...body, max_tokens: 5, stream: true, temperature: 0.5 })
    expect(await reply.json()).toEqual({ input_tokens: 1234 })
    const [sent] = scenario.acme.requests
    expect(sent?.path).toBe('/v1/v1/messages/count_tokens')
    expect<unknown>(sent?.body).toEqual({ ...body, model: 'river-1' })
    expect(sent?.headers.get('x-api-key')).toBe(providerKey)
    expect(sent?.headers.get('anthropic-beta')).toBe('a-beta')
  })

  test.each<readonly [string, Script]>([
    ['it replies with an error', json({ error: { message: 'No.' } }, { status: 404 })],
    ['it replies with something else', json('<html>')],
    [
      'its reply is endless',
      events(
        Array.from({ length: 200 }, () => 'x'.repeat(1000)),
        hang,
      ),
    ],
    ['it redirects', json('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } })],
  ])('and estimated where %s', async (_, script) => {
    await using scenario = await startAnthropicScenario(script)
    const reply = await countTokens(scenario.app)
    expect([reply.status, await reply.json()]).toEqual([200, { input_tokens: 8 }])
  })

  test('and the wait for that is the time of the provider, and not that of the gateway', async () => {
    const waitMs = 150
    await using scenario = await startAnthropicScenario([])
    const thought = scenario.acme.request(0).then(() => Bun.sleep(waitMs))
    scenario.acme.respondWith(jsonPieces([thought, '{"input_tokens":7}']))
    const startedAt = performance.now()
    const reply = await countTokens(scenario.app)
    const elapsed = performance.now() - startedAt
    const timing = reply.headers.get('server-timing') ?? ''
    const [, gateway, upstream] = /^gateway;dur=([\d.]+), upstream;dur=([\d.]+)$/.exec(timing) ?? []
    // Timers may be a little early by another clock.
    expect(Number(upstream)).toBeGreaterThan(waitMs - 5)
    expect(Number(gateway) + Number(upstream)).toBeLessThanOrEqual(elapsed)
    const line = await scenario.app.requestLines.of(reply)
    expect(Number(line.gateway_ms)).toBeLessThanOrEqual(elapsed - waitMs + 5)
    expect(await reply.json()).toEqual({ input_tokens: 7 })
  })

  test('and a client that disconnects aborts that', async () => {
    await using scenario = await startAnthropicScenario(silence)
    const leaving = new AbortController()
    const counting = countTokens(scenario.app, prompt, leaving.signal)
    const request = await scenario.acme.request(0)
    leaving.abort()
    await expect(counting).rejects.toThrow(/abort/)
    expect(await request.aborted).toBe(true)
  })
})

test('the tokens of a message are estimated for other providers, without a call', async () => {
  await using scenario = await startScenario(jsonReply())
  expect(await (await countTokens(scenario.app)).json()).toEqual({ input_tokens: 8 })
  expect(scenario.acme.requests).toEqual([])
})

test('counting is free, also without a balance, and leaves no usage', async () => {
  await using paid = await startBillingScenario(jsonReply(), { balance: '0.000000001' })
  expect((await countTokens(paid.app)).status).toBe(200)
  expect(await paid.billing.usage()).toEqual([])
  expect(await paid.billing.openReservations()).toBe(0)
})

test.each([
  [404, 'model', { ...prompt, model: 'acme/lake' }],
  [400, 'messages', { model: 'acme/river' }],
  [400, 'tools[0]', { ...prompt, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  [400, 'thread', { ...prompt, thread: { type: 'create' } }],
])('counting replies with %i for an invalid %s', async (status, _, body) => {
  await using scenario = await startScenario(jsonReply())
  const reply = await countTokens(scenario.app, body)
  expect(reply.status).toBe(status)
  expect(await reply.json()).toMatchObject({ type: 'error' })
})

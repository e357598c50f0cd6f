import { expect, test } from 'bun:test'
import { completionOf, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { breakOff, jsonPieces } from '../../support/script.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import type { Upstream } from '../../support/upstream.ts'

/** How long a provider thinks, in milliseconds; timers may be a little early by another clock. */
const thinking = 100
const asLong = thinking - 5

test('the time spent waiting for the provider is reported separately from that of the gateway', async () => {
  await using scenario = await startScenario([])
  const text = JSON.stringify(completionOf(chatOutput()))
  scenario.acme.respondWith(jsonPieces([text.slice(0, 9), thoughtOf(scenario.acme), text.slice(9)]))
  const startedAt = performance.now()
  const reply = await scenario.app.chat(chatRequest)
  const elapsed = performance.now() - startedAt
  const { gateway, upstream } = timesOf(reply)
  expect(reply.status).toBe(200)
  expect(upstream).toBeGreaterThan(asLong)
  expect(gateway).toBeGreaterThan(0)
  expect(gateway + upstream).toBeLessThanOrEqual(elapsed)
})

test('an error reports how long the provider was awaited', async () => {
  await using scenario = await startScenario([])
  scenario.acme.respondWith(jsonPieces([thoughtOf(scenario.acme)], breakOff))
  const reply = await scenario.app.chat(chatRequest)
  expect(reply.status).toBe(502)
  expect(timesOf(reply).upstream).toBeGreaterThan(asLong)
})

test('the waiting times of all attempts add up', async () => {
  await using scenario = await startScenario([], { other: [] })
  const { app, acme, other } = scenario
  acme.respondWith(jsonPieces([thoughtOf(acme)], breakOff))
  other.respondWith(jsonPieces([thoughtOf(other), JSON.stringify(completionOf(chatOutput()))]))
  const reply = await app.chat(chatRequest)
  expect(reply.status).toBe(200)
  expect(timesOf(reply).upstream).toBeGreaterThan(2 * asLong)
})

const noProviderRequested: readonly [name: string, path: string, status: number, headers: Headers][] = [
  ['a list', '/v1/models', 200, {}],
  ['a model', '/v1/models/acme/river', 200, {}],
  ['an unknown model', '/v1/models/acme/sea', 404, {}],
  ['a rejected key', '/v1/models', 401, { authorization: 'Bearer nothing' }],
  ['an unknown path', '/v2', 404, {}],
]
type Headers = Readonly<Record<string, string>>

test.each([...noProviderRequested])('%s has no waiting time', async (_, path, status, headers) => {
  await using scenario = await startScenario(jsonReply())
  const reply = await scenario.app.request(path, { headers })
  expect(reply.status).toBe(status)
  expect(timesOf(reply).upstream).toBe(0)
})

test('a stream has no timing header', async () => {
  await using scenario = await startScenario(streamReply())
  const reply = await scenario.app.chat({ ...chatRequest, stream: true })
  expect(reply.headers.get('content-type')).toStartWith('text/event-stream')
  expect(reply.headers.has('server-timing')).toBe(false)
  expect(await reply.text()).toEndWith('data: [DONE]\n\n')
})

/** Over when its first request has been there for as long as the provider thinks. */
async function thoughtOf(upstream: Upstream): Promise<void> {
  await upstream.request(0)
  await Bun.sleep(thinking)
}

/** The figures of the header, in milliseconds; fails where it is not written as it should be. */
function timesOf(reply: Response): { readonly gateway: number; readonly upstream: number } {
  const header = reply.headers.get('server-timing') ?? ''
  const figures =
    /^gateway;dur=(\d+\.\d{3}), upstream;dur=(\d+\.\d{3})(, attempt;desc="[\w:. -]+";dur=\d+\.\d{3})*$/.exec(
      header,
    )
  if (!figures) throw new Error(`This is no server-timing: ${header}`)
  return { gateway: Number(figures[1]), upstream: Number(figures[2]) }
}

import { expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { breakOff, hang, json, reset, silence } from '../../support/script.ts'

const failing = json({ error: { message: 'Out of order.' } }, { status: 503 })
const stream = { ...chatRequest, stream: true }

test('a failure before the first event is retried, and then the next route is called', async () => {
  const options = { settings: { retries: { attempts: 1 } }, other: [streamReply()] }
  await using gateway = await startScenario([failing, reset], options)
  const reply = await readStreamed(await gateway.app.chat(stream))
  expect([reply.status, reply.done, reply.error]).toEqual([200, true, undefined])
  expect([gateway.acme.requests.length, gateway.other.requests.length]).toEqual([2, 1])
})

test('a retry waits for the retry-after of the provider', async () => {
  const limited = json({ error: { message: 'Slow.' } }, { status: 429, headers: { 'retry-after': '1' } })
  await using gateway = await startScenario([limited, jsonReply()], {
    settings: { retries: { attempts: 2 } },
  })
  const requesting = gateway.app.chat(chatRequest)
  await gateway.acme.request(0)
  const refusedAt = performance.now()
  await gateway.acme.request(1)
  expect(performance.now() - refusedAt).toBeGreaterThan(950)
  expect((await requesting).status).toBe(200)
})

test('a retry-after that is too long is not awaited: the next route is called, or the failure is returned with it', async () => {
  const headers = { 'retry-after': '30' }
  const limited = json({ error: { message: 'Slow.' } }, { status: 503, headers })
  const settings = { retries: { attempts: 5 } }
  await using both = await startScenario(limited, { settings, other: [jsonReply()] })
  expect((await both.app.chat(chatRequest)).status).toBe(200)
  await using alone = await startScenario(limited, { settings })
  const reply = await alone.app.chat(chatRequest)
  expect(reply.headers.get('retry-after')).toBe('30')
  expect(await readError(reply)).toMatchObject({ status: 502, code: 'upstream_unavailable' })
  expect([both.acme.requests.length, alone.acme.requests.length]).toEqual([1, 1])
})

test.each([401, 402, 403, 404])(
  'a %d is followed by the next route immediately, without a retry',
  async (status) => {
    const refusal = json({ error: { message: 'No.' } }, { status })
    const options = { settings: { retries: { attempts: 5 } }, other: [jsonReply()] }
    await using gateway = await startScenario(refusal, options)
    expect((await gateway.app.chat(chatRequest)).status).toBe(200)
    expect([gateway.acme.requests.length, gateway.other.requests.length]).toEqual([1, 1])
  },
)

test.each([
  ['breaks', breakOff],
  ['falls silent', hang],
])('a stream that %s after its first event is neither retried nor failed over', async (_, end) => {
  const gate = Promise.withResolvers<void>()
  const opening = chunks([delta({ role: 'assistant', content: 'It is ' }), gate.promise], end)
  await using gateway = await startScenario(opening, {
    settings: { retries: { attempts: 3 } },
    other: [streamReply()],
    provider: { timeouts: { idle: '100ms' } },
  })
  const response = await gateway.app.chat(stream)
  const reader = readPieces(response)
  await reader.until('It is ')
  gate.resolve()
  const rest = await reader.rest()
  expect(response.status).toBe(200)
  expect(rest).toContain('"code":"upstream_')
  expect(rest).not.toContain('four metres.')
  expect(rest).not.toContain('[DONE]')
  expect([gateway.acme.requests.length, gateway.other.requests.length]).toEqual([1, 0])
})

test('a stream that was opened before its first event does not fail over when it fails', async () => {
  const gate = Promise.withResolvers<void>()
  await using gateway = await startScenario(chunks([': wait\n\n', gate.promise], breakOff), {
    settings: { retries: { attempts: 3 } },
    other: [streamReply()],
    patience: 20,
  })
  const reply = await gateway.app.chat(stream)
  gate.resolve()
  const { done, error } = await readStreamed(reply)
  expect([done, error?.code]).toEqual([false, 'upstream_unavailable'])
  expect([gateway.acme.requests.length, gateway.other.requests.length]).toEqual([1, 0])
})

test('a route that failed repeatedly is skipped, one call probes it after a second, and a success restores it', async () => {
  const time = { now: 0 }
  await using gateway = await startScenario(failing, {
    settings: { breaker: { failures: 2 } },
    other: [jsonReply()],
    clock: () => time.now,
  })
  const { app, acme, other } = gateway
  const servedBy = async () => (await readCompletion(await app.chat(chatRequest))).provider
  expect([await servedBy(), await servedBy(), await servedBy()]).toEqual(['other', 'other', 'other'])
  expect(acme.requests.length).toBe(2)
  acme.respondWith(failing, jsonReply())
  time.now += 1000
  await Promise.all([servedBy(), servedBy(), servedBy()])
  expect(acme.requests.length).toBe(3)
  time.now += 1000
  expect([await servedBy(), await servedBy()]).toEqual(['acme', 'acme'])
  expect([acme.requests.length, other.requests.length]).toEqual([5, 6])
})

test('weighted routes share the calls, and replace each other on failure', async () => {
  const routes = [
    { provider: 'acme', model: 'river-1', weight: 1 },
    { provider: 'other', model: 'river-2', weight: 1_000_000 },
  ]
  await using gateway = await startScenario(jsonReply(), { model: { routes }, other: [jsonReply(), failing] })
  expect((await readCompletion(await gateway.app.chat(chatRequest))).provider).toBe('other')
  expect((await readCompletion(await gateway.app.chat(chatRequest))).provider).toBe('acme')
})

test('a first-event timeout is followed by the next route, without a retry', async () => {
  await using gateway = await startScenario(silence, {
    settings: { retries: { attempts: 3 } },
    other: [jsonReply()],
    acme: { timeouts: { first_byte: '1s' } },
  })
  expect((await gateway.app.chat(chatRequest)).status).toBe(200)
  expect(gateway.acme.requests.length).toBe(1)
})

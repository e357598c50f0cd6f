import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { cancelRun, gatedReply, queueRun, waitForOutput } from '../../support/background.ts'
import { readError } from '../../support/chat-reply.ts'
import { startScenario } from '../../support/scenario.ts'

const settings = { background: { concurrency: 1 }, limits: { tokens_per_minute: 1_000_000_000 } }

test('the queued runs of all organizations share a memory budget, beyond which new runs are rejected', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(gatedReply(gate.promise), { settings })
  const { app, billing } = paid
  const key = async (name: string) => {
    await billing.fund(name, '0', 'unmetered')
    return { headers: { authorization: `Bearer ${await billing.keyOf(name)}` } }
  }
  const first = await queueRun(app, { input: 'first' }, await key('first'))
  await paid.acme.request(0)

  const large = { input: 'large', instructions: 'river '.repeat(5 * 1024 * 1024) }
  const keys = await Promise.all(['one', 'two', 'three'].map(key))
  const waiting: string[] = []
  for (const options of keys) waiting.push((await queueRun(app, large, options)).id)
  const body = { model: 'acme/river', input: 'one more', background: true }
  const last = await key('four')
  const refused = await readError(await app.request('/v1/responses', { ...last, body }))
  expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
  expect(refused.message).toContain('Too many background runs are queued')

  expect((await cancelRun(app, waiting[0] ?? '', keys[0])).status).toBe(200)
  expect((await app.request('/v1/responses', { ...last, body })).status).toBe(200)
  expect(first.status).toBe('queued')
  gate.resolve()
}, 120_000)

test('the queued runs of one organization may hold a quarter of the memory budget, beyond which its new runs are rejected', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(gatedReply(gate.promise), { settings })
  const { app } = scenario
  const first = await queueRun(app, { input: 'first' })
  await waitForOutput(app, first.id, 'It is ')

  const large = { input: 'large', instructions: 'river '.repeat(5 * 1024 * 1024) }
  const waiting = await queueRun(app, large)
  const body = { model: 'acme/river', input: 'one more', background: true }
  const refused = await readError(await app.request('/v1/responses', { body }))
  expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  expect(refused.message).toContain('too large in total')

  expect((await cancelRun(app, waiting.id)).status).toBe(200)
  expect((await app.request('/v1/responses', { body })).status).toBe(200)
  gate.resolve()
}, 120_000)

import { expect, test } from 'bun:test'
import { gatedAnswer, queueRun, runTells } from '../support/background.ts'
import { readError } from '../support/chat-reply.ts'
import { startScenario } from '../support/scenario.ts'

test('runs that wait keep only so much in memory: beyond it new ones are refused, until some are gone', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(gatedAnswer(gate.promise), {
    settings: { background: { concurrency: 1 }, limits: { tokens_per_minute: 1_000_000_000 } },
  })
  const { app } = scenario
  const first = await queueRun(app, { input: 'first' })
  await runTells(app, first.id, 'It is ')

  const large = { input: 'large', instructions: 'river '.repeat(5 * 1024 * 1024) }
  const waiting = [await queueRun(app, large), await queueRun(app, large), await queueRun(app, large)]
  const body = { model: 'acme/river', input: 'one more', background: true }
  const refused = await readError(await app.request('/v1/responses', { body }))
  expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
  expect(refused.message).toContain('Too many background runs wait')

  const path = `/v1/responses/${waiting[0]?.id}/cancel`
  expect((await app.request(path, { method: 'POST' })).status).toBe(200)
  expect((await app.request('/v1/responses', { body })).status).toBe(200)
  gate.resolve()
}, 20_000)

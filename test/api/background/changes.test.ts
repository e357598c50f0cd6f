import { expect, test } from 'bun:test'
import {
  maxCost,
  type BillingScenario,
  startBillingScenario,
  replyCost,
} from '../../support/billing-scenario.ts'
import { gatedReply, queueRunRequest, queueRun, waitForRun, startRun } from '../../support/background.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { replayResponse, retrieveResponse } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'

const start = 1e9
const oneAtATime = { settings: { background: { concurrency: 1 } } }

/** Puts the settings in force without one of its models. */
async function removeModel({ app }: Pick<BillingScenario, 'app'>, slug: string): Promise<void> {
  const { settings } = app.runtime.configuration()
  const models = settings.models.filter((model) => model.slug !== slug)
  await app.runtime.reload({ settings: { ...settings, models }, file: null, environment: {} })
}

test('a queued run whose model was removed fails with that reason and costs nothing', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], oneAtATime)
  await startRun(paid)
  const { id, request } = await queueRunRequest(paid.app)
  expect(await paid.billing.account()).toEqual([start, 2 * maxCost])
  await removeModel(paid, 'acme/river')
  expect((await retrieveResponse(paid.app, id)).status).toBe('queued')
  gate.resolve()
  const run = await waitForRun(paid.app, id)
  expect(run).toMatchObject({ status: 'failed', output: [], usage: null, model: 'acme/river' })
  expect(run.error?.message).toContain('acme/river')
  expect((await replayResponse(paid.app, id)).text).toContain('"code":"model_not_found"')
  await paid.billing.waitForUsage(2)
  expect(await paid.billing.usageOf(request)).toMatchObject({
    status: 404,
    error: 'model_not_found',
    prompt_tokens: 0,
  })
  expect(await paid.billing.entriesOf(request)).toEqual({})
  // The one that was under way has ended as it began.
  expect(await paid.billing.account()).toEqual([start - replyCost, 0])
  expect(paid.acme.requests.length).toBe(1)
  await paid.billing.expectConsistent()
})

test('a queued run whose model got a new price is charged the price at which it was reserved', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], oneAtATime)
  await startRun(paid)
  const { id, request } = await queueRunRequest(paid.app)
  const { settings } = paid.app.runtime.configuration()
  const models = settings.models.map((model) => ({ ...model, pricing: { input: 2, output: 20 } }))
  await paid.app.runtime.reload({ settings: { ...settings, models }, file: null, environment: {} })
  gate.resolve()
  expect((await waitForRun(paid.app, id)).status).toBe('completed')
  await paid.billing.waitForUsage(2)
  expect((await paid.billing.usageOf(request))?.cost).toBe(replyCost)
  expect(await paid.billing.account()).toEqual([start - 2 * replyCost, 0])
  await paid.billing.expectConsistent()
})

test('revoking a key lets its active run finish, and fails its queued runs', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], oneAtATime)
  await paid.billing.fund('acme', '1')
  const key = await paid.billing.keyOf('acme')
  const headers = { authorization: `Bearer ${key}` }
  const running = await queueRun(paid.app, {}, { headers })
  await paid.acme.request(0)
  const queued = await queueRun(paid.app, {}, { headers })
  await paid.billing.keys.revoke(key.split('-')[2]!)
  const other = { headers: { authorization: `Bearer ${await paid.billing.keyOf('acme')}` } }
  while ((await paid.app.request('/v1/models', { headers })).status !== 401) await Bun.sleep(20)
  gate.resolve()
  expect((await waitForRun(paid.app, running.id, other)).status).toBe('completed')
  const failed = await waitForRun(paid.app, queued.id, other)
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'invalid_api_key' } })
  await paid.billing.waitForUsage(2)
  expect(paid.acme.requests.length).toBe(1)
  expect(await paid.billing.account('acme')).toEqual([start - replyCost, 0])
})

test('deleting an organization removes its runs: an active one ends without a trace, and a queued one never starts', async () => {
  const gate = Promise.withResolvers<void>()
  // Its stream is not ended by the check of its key first.
  const options = { ...oneAtATime, keyCheckInterval: 3_600_000 }
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], options)
  await paid.billing.fund('acme', '1')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('acme')}` }
  const running = await queueRun(paid.app, {}, { headers })
  await paid.acme.request(0)
  const reader = replayResponse(paid.app, running.id, '', { headers })
  await queueRun(paid.app, {}, { headers })
  const mine = await queueRun(paid.app, { input: 'mine' })
  await paid.billing.organizations.delete('acme')
  gate.resolve()
  expect((await waitForRun(paid.app, mine.id)).status).toBe('completed')
  expect((await reader).last?.status).toBe('completed')
  // Of its two runs the queued one was never asked for.
  expect(paid.acme.requests.length).toBe(2)
  expect(JSON.stringify(paid.acme.requests[1]?.body)).toContain('mine')
  expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[1]])
  expect(await paid.billing.waitForUsage(1)).toHaveLength(1)
  await paid.billing.expectConsistent()
})

test('a run debits the tokens-per-minute limit by the tokens that it used', async () => {
  await using scenario = await startScenario(streamReply(), {
    settings: { limits: { tokens_per_minute: 1000 } },
    clock: () => 0,
  })
  // Eight tokens of the prompt are taken at once, and the 17 that it took when it is over.
  const { id } = await queueRun(scenario.app)
  await waitForRun(scenario.app, id)
  const reply = await scenario.app.request('/v1/models')
  expect(reply.headers.get('x-ratelimit-remaining-tokens')).toBe(String(1000 - 17))
})

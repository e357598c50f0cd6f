import { expect, test } from 'bun:test'
import { firstChunks, lastChunks, queueRun, waitForRun } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { maxCost, replyCost } from '../../support/billing-scenario.ts'
import { chunks } from '../../support/chat-fixtures.ts'
import { retrieveResponse } from '../../support/responses.ts'
import { silence } from '../../support/script.ts'
import { type BudgetScenario, startBudgets } from './support/budget-scenario.ts'

const midnight = Date.UTC(2026, 10, 26)

/** The periods of all budgets with what is spent and reserved of each, in nano-dollars. */
async function periods({ billing }: BudgetScenario): Promise<readonly (readonly number[])[]> {
  const rows = await billing.values('SELECT start, spent, reserved FROM budgets ORDER BY start')
  return rows.map((row) => row.map(Number))
}

test('a background run is reserved in the period in which it is queued, and charged to it', async () => {
  const clock = { now: midnight - 1 }
  const released = Promise.withResolvers<void>()
  const script = chunks([...firstChunks, released.promise, ...lastChunks])
  await using scenario = await startBudgets(script, { now: () => clock.now })
  const key = await scenario.keyWith({ budget: BigInt(maxCost), budgetPeriod: 'day' })
  const run = await queueRun(scenario.app, {}, { headers: key.headers })
  await scenario.acme.request(0)
  expect(await periods(scenario)).toEqual([[midnight - 86_400_000, 0, maxCost]])
  clock.now = midnight
  released.resolve()
  await waitForRun(scenario.app, run.id)
  await waitUntil(async () => (await scenario.billing.openReservations()) === 0, 'it is settled')
  expect(await periods(scenario)).toEqual([[midnight - 86_400_000, replyCost, 0]])
  await scenario.billing.expectConsistent()
})

test('a queued run keeps what it has reserved, and gives it back when it is cancelled', async () => {
  await using scenario = await startBudgets(silence, { settings: { limits: { concurrent_requests: 1 } } })
  const { app, billing } = scenario
  const key = await scenario.keyWith({ budget: BigInt(2 * maxCost) })
  await queueRun(app, {}, { headers: key.headers })
  const queued = await queueRun(app, {}, { headers: key.headers })
  await scenario.acme.request(0)
  expect(await key.use()).toEqual([0, 2 * maxCost, 0])
  const refused = await key.post('/v1/responses', { model: 'acme/river', input: 'Hello', background: true })
  expect([refused.status, await billing.count('responses')]).toEqual([402, 2])
  await app.request(`/v1/responses/${queued.id}/cancel`, { method: 'POST', headers: key.headers })
  expect(await key.use()).toEqual([0, maxCost, 0])
  expect((await retrieveResponse(app, queued.id)).status).toBe('incomplete')
  await billing.expectConsistent()
})

test('runs of a key without a free slot let those of other keys start', async () => {
  const first = Promise.withResolvers<void>()
  await using scenario = await startBudgets([
    chunks([...firstChunks, first.promise, ...lastChunks]),
    chunks([...firstChunks, ...lastChunks]),
  ])
  const { app } = scenario
  const [busy, other] = [await scenario.keyWith({ concurrentRequests: 1 }), await scenario.keyWith()]
  const running = await queueRun(app, {}, { headers: busy.headers })
  await scenario.acme.request(0)
  const waiting = await queueRun(app, {}, { headers: busy.headers })
  const free = await queueRun(app, {}, { headers: other.headers })
  expect((await waitForRun(app, free.id)).status).toBe('completed')
  expect((await retrieveResponse(app, waiting.id)).status).toBe('queued')
  first.resolve()
  for (const { id } of [running, waiting]) expect((await waitForRun(app, id)).status).toBe('completed')
})

test('a run waits for a slot of its key, and starts when another one of the key has ended', async () => {
  const first = Promise.withResolvers<void>()
  await using scenario = await startBudgets([
    chunks([...firstChunks, first.promise, ...lastChunks]),
    chunks([...firstChunks, ...lastChunks]),
  ])
  const { app } = scenario
  const key = await scenario.keyWith({ concurrentRequests: 1 })
  const running = await queueRun(app, {}, { headers: key.headers })
  await scenario.acme.request(0)
  const queued = await queueRun(app, {}, { headers: key.headers })
  expect((await retrieveResponse(app, queued.id)).status).toBe('queued')
  first.resolve()
  expect((await waitForRun(app, running.id)).status).toBe('completed')
  expect((await waitForRun(app, queued.id)).status).toBe('completed')
  expect(scenario.acme.requests).toHaveLength(2)
})

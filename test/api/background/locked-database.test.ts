import { expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import {
  maxCost,
  type BillingScenario,
  abortedPromptCost,
  pricing,
  promptCost,
  startBillingScenario,
  replyCost,
  waitForReservations,
} from '../../support/billing-scenario.ts'
import {
  firstChunks,
  cancelRun,
  gatedReply,
  queueRunRequest,
  waitForRun,
  waitForOutput,
  startRun,
} from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { testsUsePostgres } from '../../support/postgres/server.ts'
import { replayResponse, postResponse, retrieveResponse } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'

const start = 1e9
const lockTimeoutMs = 100

/** The gateway has tried to write, and knows that it cannot. */
function noticed({ app }: BillingScenario): Promise<void> {
  return waitUntil(() => app.lines.some((line) => line.includes('The database is unavailable')), 'an outage')
}

async function raiseConcurrency({ app }: BillingScenario, concurrency: number): Promise<void> {
  const { settings } = app.runtime.configuration()
  await app.runtime.reload({
    settings: { ...settings, background: { ...settings.background, concurrency } },
    file: null,
    environment: {},
  })
}

test('a run that cannot be stored is rejected, and nothing is reserved', async () => {
  await using paid = await startBillingScenario(streamReply(), { lockTimeoutMs })
  const locked = await paid.billing.lock()
  const reply = await postResponse(paid.app, { background: true })
  expect(reply.headers.get('retry-after')).toBe('1')
  expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
  expect(paid.acme.requests).toEqual([])
  await locked.release()
  await waitForReservations(paid)
  const statuses = (await paid.billing.waitForUsage(2)).map(({ status }) => status)
  expect([...new Set(statuses)]).toEqual([503, 200])
  expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[0]])
  expect(await paid.billing.account()).toEqual([start - replyCost, 0])
  expect(paid.acme.requests).toHaveLength(1)
})

// On PostgreSQL the limits are in the database, too: while its tables are locked, requests are rejected.
test.skipIf(testsUsePostgres)(
  'runs that start, end or are cancelled while the database is locked are recorded with their costs once it is unlocked',
  async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(
      [gatedReply(gate.promise), chunks(firstChunks, hang), streamReply()],
      {
        lockTimeoutMs,
        settings: { background: { concurrency: 2 } },
      },
    )
    const { app } = paid
    const [ending, stopped] = [await queueRunRequest(app), await queueRunRequest(app)]
    for (const { id } of [ending, stopped]) await waitForOutput(app, id, 'It is ')
    const [dropped, beginning] = [await queueRunRequest(app), await queueRunRequest(app)]
    const readers = [ending, stopped, dropped, beginning].map(({ id }) => replayResponse(app, id))

    const locked = await paid.billing.lock()
    gate.resolve()
    const cancels = [cancelRun(app, stopped.id), cancelRun(app, dropped.id)]
    expect(await paid.acme.requests[1]!.aborted).toBe(true)
    await raiseConcurrency(paid, 9)
    await noticed(paid)
    // None of it is told before it is stored.
    for (const { id } of [ending, stopped])
      expect((await retrieveResponse(app, id)).status).toBe('in_progress')
    expect(paid.acme.requests.length).toBe(2)
    expect(await paid.billing.usage()).toEqual([])
    await locked.release()

    const [complete, cut, never, late] = (await Promise.all(readers)).map(({ last }) => last!)
    expect([complete!.status, late!.status]).toEqual(['completed', 'completed'])
    for (const run of [cut, never])
      expect(run).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
    for (const cancel of cancels) expect((await cancel).status).toBe(200)
    const rows = await paid.billing.waitForUsage(4)
    const stoppedCost = (await paid.billing.usageOf(stopped.request))?.cost ?? 0
    expect(stoppedCost).toBeWithin(abortedPromptCost + 30_000, maxCost + 1)
    expect(rows.map(({ id, status, cost }) => [id, status, cost ?? 0])).toEqual([
      [ending.request, 200, replyCost],
      [stopped.request, 499, stoppedCost],
      [dropped.request, 499, 0],
      [beginning.request, 200, replyCost],
    ])
    expect(await paid.billing.account()).toEqual([start - 2 * replyCost - stoppedCost, 0])
    await paid.billing.expectConsistent()
    expect(await paid.billing.values('SELECT DISTINCT run FROM responses')).toEqual([[null]])
  },
)

test('a gateway that shuts down waits until the database accepts the ends of its runs', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(
    [gatedReply(gate.promise), chunks(firstChunks, hang), streamReply()],
    { lockTimeoutMs, settings: { background: { concurrency: 2 } } },
  )
  const [ended, cut] = [await startRun(paid), await startRun(paid)]
  const queued = await queueRunRequest(paid.app)
  const locked = await paid.billing.lock()
  gate.resolve()
  await paid.acme.requests[0]!.aborted
  await noticed(paid)
  const stopping = paid.app.runtime.stop()
  expect(await paid.acme.requests[1]!.aborted).toBe(true)
  await locked.release()
  await stopping
  const rows = await paid.billing.values('SELECT id, status FROM responses ORDER BY id')
  expect(rows).toEqual([
    [ended, 'completed'],
    [cut, 'failed'],
    [queued.id, 'queued'],
  ])
  expect((await paid.billing.usage()).map(({ status, error }) => [status, error])).toEqual([
    [200, null],
    [503, 'interrupted'],
  ])
  expect(await paid.billing.account()).toEqual([start - replyCost - promptCost - 20_000, maxCost])
  await using again = await startScenario(streamReply(), {
    database: paid.database,
    model: { pricing, max_output_tokens: 100 },
  })
  expect((await waitForRun(again.app, queued.id)).status).toBe('completed')
  expect(await paid.billing.account()).toEqual([start - 2 * replyCost - promptCost - 20_000, 0])
  await paid.billing.expectConsistent()
})

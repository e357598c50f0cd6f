import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { until } from '../reliability/money/support/books.ts'
import {
  mostCost,
  type Paid,
  leftPromptCost,
  pricing,
  promptCost,
  startPaid,
  usualCost,
} from '../reliability/money/support/paid.ts'
import {
  begun,
  cancelRun,
  gatedAnswer,
  queueRequest,
  runOver,
  runTells,
  startedRun,
} from '../support/background.ts'
import { chunks, streamed } from '../support/chat-answers.ts'
import { readError } from '../support/chat-reply.ts'
import { replayed, respond, retrieved } from '../support/responses.ts'
import { startScenario } from '../support/scenario.ts'
import { hang } from '../support/script.ts'

const start = 1e9

/** Another process, for the gateway, that keeps the database locked. */
function lock({ file }: Paid) {
  const other = new Sqlite(file)
  other.run('BEGIN IMMEDIATE')
  return { release: () => other.close() }
}

/** The gateway has tried to write, and knows that it cannot. */
function noticed({ app }: Paid): Promise<void> {
  return until(() => app.lines.some((line) => line.includes('The database is not available')), 'an outage')
}

async function raiseConcurrency({ app }: Paid, concurrency: number): Promise<void> {
  const { settings } = app.runtime.configuration()
  await app.runtime.reload({
    settings: { ...settings, background: { ...settings.background, concurrency } },
    file: null,
    environment: {},
  })
}

test('a run that cannot be stored is rejected, and nothing is reserved', async () => {
  await using paid = await startPaid(streamed())
  const locked = lock(paid)
  const reply = await respond(paid.app, { background: true })
  expect(reply.headers.get('retry-after')).toBe('1')
  expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
  locked.release()
  expect((await paid.books.settled(1)).map(({ status }) => status)).toEqual([503])
  expect(paid.books.sqlite.query('SELECT count(*) FROM responses').values()).toEqual([[0]])
  expect(paid.books.account()).toEqual([start, 0])
  expect(paid.acme.requests).toEqual([])
})

test('runs that start, end or are cancelled while the database is locked are recorded with their costs once it is unlocked', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startPaid([gatedAnswer(gate.promise), chunks(begun, hang), streamed()], {
    settings: { background: { concurrency: 2 } },
  })
  const { app } = paid
  const [ending, stopped] = [await queueRequest(app), await queueRequest(app)]
  for (const { id } of [ending, stopped]) await runTells(app, id, 'It is ')
  const [dropped, beginning] = [await queueRequest(app), await queueRequest(app)]
  const readers = [ending, stopped, dropped, beginning].map(({ id }) => replayed(app, id))

  const locked = lock(paid)
  gate.resolve()
  const cancels = [cancelRun(app, stopped.id), cancelRun(app, dropped.id)]
  expect(await paid.acme.requests[1]!.left).toBe(true)
  await raiseConcurrency(paid, 9)
  await noticed(paid)
  // None of it is told before it is stored.
  for (const { id } of [ending, stopped]) expect((await retrieved(app, id)).status).toBe('in_progress')
  expect(paid.acme.requests.length).toBe(2)
  expect(paid.books.rows()).toEqual([])
  locked.release()

  const [whole, cut, never, late] = (await Promise.all(readers)).map(({ last }) => last!)
  expect([whole!.status, late!.status]).toEqual(['completed', 'completed'])
  for (const run of [cut, never])
    expect(run).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
  for (const cancel of cancels) expect((await cancel).status).toBe(200)
  const rows = await paid.books.settled(4)
  const stoppedCost = paid.books.row(stopped.request)?.cost ?? 0
  expect(stoppedCost).toBeWithin(leftPromptCost + 30_000, mostCost + 1)
  expect(rows.map(({ id, status, cost }) => [id, status, cost ?? 0])).toEqual([
    [ending.request, 200, usualCost],
    [stopped.request, 499, stoppedCost],
    [dropped.request, 499, 0],
    [beginning.request, 200, usualCost],
  ])
  expect(paid.books.account()).toEqual([start - 2 * usualCost - stoppedCost, 0])
  paid.books.expectSound()
  expect(paid.books.sqlite.query('SELECT DISTINCT run FROM responses').values()).toEqual([[null]])
})

test('a gateway that shuts down waits until the database accepts the ends of its runs', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startPaid([gatedAnswer(gate.promise), chunks(begun, hang), streamed()], {
    settings: { background: { concurrency: 2 } },
  })
  const [ended, cut] = [await startedRun(paid), await startedRun(paid)]
  const queued = await queueRequest(paid.app)
  const locked = lock(paid)
  gate.resolve()
  await paid.acme.requests[0]!.left
  await noticed(paid)
  const stopping = paid.app.runtime.stop()
  expect(await paid.acme.requests[1]!.left).toBe(true)
  locked.release()
  await stopping
  const rows = paid.books.sqlite.query('SELECT id, status FROM responses ORDER BY id').values()
  expect(rows).toEqual([
    [ended, 'completed'],
    [cut, 'failed'],
    [queued.id, 'queued'],
  ])
  expect(paid.books.rows().map(({ status, error }) => [status, error])).toEqual([
    [200, null],
    [503, 'interrupted'],
  ])
  expect(paid.books.account()).toEqual([start - usualCost - promptCost - 20_000, mostCost])
  await using again = await startScenario(streamed(), {
    database: paid.file,
    model: { pricing, max_output_tokens: 100 },
  })
  expect((await runOver(again.app, queued.id)).status).toBe('completed')
  expect(paid.books.account()).toEqual([start - 2 * usualCost - promptCost - 20_000, 0])
  paid.books.expectSound()
})

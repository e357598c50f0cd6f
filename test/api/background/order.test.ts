import { expect, test } from 'bun:test'
import type { RequestOptions } from '../../support/app.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import {
  firstChunks,
  gatedReply,
  queueRun,
  waitForRun,
  waitForOutput,
  startRun,
} from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { retrieveResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { hang, silence } from '../../support/script.ts'

function gates(count: number) {
  return Array.from({ length: count }, () => Promise.withResolvers<void>())
}

/** What each upstream request so far has asked. */
function questions({ acme }: Pick<BillingScenario, 'acme'>): unknown[] {
  return acme.requests.map(
    ({ body }) => (body as { messages: { content: unknown }[] }).messages.at(-1)?.content,
  )
}

/** The organization of this name may have so many calls open; the header of a key of it. */
async function organizationOf(
  paid: BillingScenario,
  name: string,
  concurrent: number,
): Promise<RequestOptions> {
  await paid.billing.fund(name, '0', 'unmetered')
  await paid.billing.rows('UPDATE organizations SET concurrent_requests = ? WHERE name = ?', concurrent, name)
  return { headers: { authorization: `Bearer ${await paid.billing.keyOf(name)}` } }
}

test('the configured number of runs is active at once, and the others start in the order of their creation', async () => {
  const [one, two, ...rest] = gates(6)
  await using scenario = await startScenario(
    [one!, two!, ...rest].map(({ promise }) => gatedReply(promise)),
    { settings: { background: { concurrency: 2 } } },
  )
  const { app } = scenario
  const runs: string[] = []
  for (const input of ['0', '1', '2', '3', '4', '5']) {
    runs.push((await queueRun(app, { input })).id)
    await scenario.acme.request(0)
  }
  await Promise.all([waitForOutput(app, runs[0]!, 'It is '), waitForOutput(app, runs[1]!, 'It is ')])
  expect(questions(scenario).toSorted()).toEqual(['0', '1'])
  for (const id of runs.slice(2)) expect((await retrieveResponse(app, id)).status).toBe('queued')

  // The younger one ends first, and the oldest that waits takes its place.
  two!.resolve()
  await waitForOutput(app, runs[2]!, 'It is ')
  expect(questions(scenario)).toHaveLength(3)
  expect((await retrieveResponse(app, runs[0]!)).status).toBe('in_progress')
  expect((await retrieveResponse(app, runs[3]!)).status).toBe('queued')
  one!.resolve()
  await waitForOutput(app, runs[3]!, 'It is ')
  rest.forEach(({ resolve }) => resolve())
  for (const id of runs) expect((await waitForRun(app, id)).status).toBe('completed')
  expect(questions(scenario).slice(2, 4)).toEqual(['2', '3'])
  // These may start at the same time.
  expect(questions(scenario).slice(4).toSorted()).toEqual(['4', '5'])
})

test('runs of an organization at its concurrency limit wait, and runs of other organizations overtake them', async () => {
  const [first, second] = gates(2)
  await using paid = await startBillingScenario([
    gatedReply(first!.promise),
    gatedReply(second!.promise),
    streamReply(),
  ])
  const [narrow, wide] = [await organizationOf(paid, 'narrow', 1), await organizationOf(paid, 'wide', 10)]
  const ahead = await queueRun(paid.app, { input: 'narrow 1' }, narrow)
  await paid.acme.request(0)
  const waiting = await queueRun(paid.app, { input: 'narrow 2' }, narrow)
  const passing = await queueRun(paid.app, { input: 'wide' }, wide)
  await paid.acme.request(1)
  expect(questions(paid)).toEqual(['narrow 1', 'wide'])
  expect((await retrieveResponse(paid.app, waiting.id, narrow)).status).toBe('queued')
  first!.resolve()
  expect((await waitForRun(paid.app, waiting.id, narrow)).status).toBe('completed')
  expect((await waitForRun(paid.app, ahead.id, narrow)).status).toBe('completed')
  second!.resolve()
  expect((await waitForRun(paid.app, passing.id, wide)).status).toBe('completed')
})

test('a run waits for the concurrency slot of a foreground call, and starts when that call ends', async () => {
  await using paid = await startBillingScenario([chunks(firstChunks, hang), streamReply()])
  const narrow = await organizationOf(paid, 'narrow', 1)
  const aborting = new AbortController()
  await paid.app.chat({ ...chatRequest, stream: true }, { ...narrow, signal: aborting.signal })
  const { id } = await queueRun(paid.app, {}, narrow)
  expect((await retrieveResponse(paid.app, id, narrow)).status).toBe('queued')
  expect(paid.acme.requests.length).toBe(1)
  aborting.abort()
  expect((await waitForRun(paid.app, id, narrow)).status).toBe('completed')
})

test('an active run counts as an open call; a queued run and its readers do not', async () => {
  const [gate] = gates(1)
  await using paid = await startBillingScenario([gatedReply(gate!.promise), streamReply()])
  const narrow = await organizationOf(paid, 'narrow', 1)
  const { id } = await queueRun(paid.app, {}, narrow)
  await paid.acme.request(0)
  const queued = await queueRun(paid.app, {}, narrow)
  const metrics = await (await paid.app.request('/metrics')).text()
  expect(metrics).toContain('weir_background_runs{kind="queued"} 1\nweir_background_runs{kind="running"} 1\n')
  const readers = [id, queued.id].map((id) => waitForRun(paid.app, id, narrow))
  const refused = await paid.app.chat(chatRequest, narrow)
  expect(refused.status).toBe(429)
  expect(await refused.text()).toContain('concurrent requests')
  gate!.resolve()
  for (const reader of readers) expect((await reader).status).toBe('completed')
  expect((await paid.app.chat({ ...chatRequest, stream: true }, narrow)).status).toBe(200)
})

test('queued runs start as soon as a reload raises the limit', async () => {
  await using scenario = await startScenario(silence, { settings: { background: { concurrency: 1 } } })
  const { app, acme } = scenario
  const ids = [(await queueRun(app)).id, (await queueRun(app)).id, (await queueRun(app)).id]
  await acme.request(0)
  expect(app.runtime.configuration().settings.background.concurrency).toBe(1)
  const { settings } = app.runtime.configuration()
  await app.runtime.reload({
    settings: { ...settings, background: { ...settings.background, concurrency: 3 } },
    file: null,
    environment: {},
  })
  await acme.request(2)
  for (const id of ids) expect((await retrieveResponse(app, id)).status).toBe('in_progress')
})

test('a run that fails or is cancelled makes room for the next one', async () => {
  await using scenario = await startScenario([chunks(firstChunks, hang), silence, streamReply()], {
    settings: { background: { concurrency: 1 } },
  })
  const { app, acme } = scenario
  const first = await startRun(scenario)
  const [second, third] = [(await queueRun(app)).id, (await queueRun(app)).id]
  for (const [index, id] of [first, second].entries()) {
    const request = await acme.request(index)
    expect((await app.request(`/v1/responses/${id}/cancel`, { method: 'POST' })).status).toBe(200)
    expect(await request.aborted).toBe(true)
  }
  expect((await waitForRun(app, third)).status).toBe('completed')
})

import { expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { readPieces } from '../../support/body-reader.ts'
import { firstChunks } from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { readEvents, textOf } from '../../support/responses.ts'
import { hang } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { pricing, promptCost, replyCost } from '../../support/billing-scenario.ts'

const start = 1e9

/** The runs of one organization that pays, and has a budget. */
async function runsOf(gateway: GatewayProcess) {
  await gateway.books.fund('acme', '1')
  await gateway.books.organizations.change('acme', { budget: 10n ** 9n })
  const key = await gateway.books.keyOf('acme')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const path = (rest: string) => `${gateway.url()}/v1/responses${rest}`
  const get = (rest: string) => fetch(path(rest), { headers })
  return {
    get,
    post: (rest: string) => fetch(path(rest), { method: 'POST', headers }),
    async queue() {
      const body = JSON.stringify({ model: 'acme/river', input: 'How high is it?', background: true })
      const reply = await fetch(path(''), { method: 'POST', headers, body })
      const { id } = (await reply.json()) as ResponseObject
      return { id, request: reply.headers.get('x-request-id') ?? '' }
    },
    find: async (id: string) => (await (await get(`/${id}`)).json()) as ResponseObject,
    events: async (id: string, after = -1) =>
      await readEvents(await get(`/${id}?stream=true&starting_after=${after}`)),
    tail: async (id: string) => readPieces(await get(`/${id}?stream=true`)),
  }
}

test('background runs are polled and followed through a kill: queued runs complete, active ones fail', async () => {
  await using upstream = await createUpstream(streamReply())
  await using gateway = await createGatewayProcess(upstream.url, pricing, { background: { concurrency: 1 } })
  await gateway.start()
  const { books: billing } = gateway
  const runs = await runsOf(gateway)
  const complete = await runs.queue()
  const wholeText = (await runs.events(complete.id)).text
  upstream.respondWith(chunks(firstChunks, hang))
  const cut = await runs.queue()
  await (await runs.tail(cut.id)).until('It is ')
  const cancelled = await runs.queue()
  const cancelledNow = (await (await runs.post(`/${cancelled.id}/cancel`)).json()) as ResponseObject
  const waiting = [await runs.queue(), await runs.queue()]
  const readers = await Promise.all([cut, ...waiting].map(({ id }) => runs.tail(id)))
  await Promise.all(readers.map((reader) => reader.until('response.queued')))
  await waitUntil(async () => (await gateway.books.count('response_log')) > 0, 'a piece of the log')

  await gateway.kill()
  for (const reader of readers)
    expect(await reader.rest().catch(() => 'broken')).not.toContain('response.completed')
  expect(await billing.openReservations()).toBe(3)
  const selectAmount = 'SELECT amount FROM reservations WHERE request_id = ?'
  const amount = Number((await billing.values(selectAmount, cut.request))[0]?.[0])
  upstream.respondWith(streamReply())
  await gateway.start()

  const failed = await runs.find(cut.id)
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  expect(failed.error?.message).toBe('The gateway stopped before the response was complete. Try again.')
  expect(textOf(failed)).toBe('It is ')
  expect(failed.usage).toMatchObject({ input_tokens: 8, output_tokens: 2 })
  const { types, events, last } = await runs.events(cut.id)
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...types.keys()])
  expect(types.slice(-2)).toEqual(['error', 'response.failed'])
  expect(last).toEqual(failed)
  // A reader who had heard the first words goes on behind them.
  expect((await runs.events(cut.id, 5)).types[0]).toBe('response.output_text.done')

  for (const { id } of waiting) {
    const done = await runs.events(id)
    expect(done.types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
    expect(textOf(done.last!)).toBe('It is four metres.')
    expect(await runs.find(id)).toEqual(done.last!)
  }
  expect((await runs.events(complete.id)).text).toBe(wholeText)
  expect(await runs.find(cancelled.id)).toEqual(cancelledNow)

  await billing.waitForUsage(5)
  const cost = promptCost + 2 * 10_000
  expect(await billing.usageOf(cut.request)).toMatchObject({
    status: 0,
    error: 'interrupted',
    cost,
    estimated: 1,
  })
  for (const { request } of waiting)
    expect(await billing.usageOf(request)).toMatchObject({ status: 200, cost: replyCost })
  expect(await billing.account('acme')).toEqual([start - 3 * replyCost - cost, 0])
  // The provider may have finished the run: the budget counts the rest of its reservation as held.
  const [use] = await billing.values('SELECT spent, reserved, held FROM budgets')
  expect(use?.map(Number)).toEqual([3 * replyCost + cost, 0, amount - cost])
  expect(amount).toBeGreaterThan(cost)
  expect(await gateway.books.count('response_log')).toBe(0)
  await billing.expectConsistent()
  expect(upstream.requests.length).toBe(4)
}, 120_000)

test('a run that was reported as started has started after a kill, too', async () => {
  await using upstream = await createUpstream(chunks(firstChunks, hang))
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  await gateway.start()
  const runs = await runsOf(gateway)
  const { id } = await runs.queue()
  // Well within the first second, before anything but its beginning is stored.
  await (await runs.tail(id)).until('response.in_progress')
  await gateway.kill()
  await gateway.start()
  const { types } = await runs.events(id)
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
  expect(types.at(-1)).toBe('response.failed')
  await gateway.kill()
  await gateway.start()
  expect((await runs.events(id)).types).toEqual(types)
  expect(await gateway.books.usage()).toHaveLength(1)
  await gateway.books.expectConsistent()
}, 120_000)

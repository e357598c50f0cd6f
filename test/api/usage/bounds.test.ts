import { describe, expect, test } from 'bun:test'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { gatedReply, queueRunRequest, waitForRun } from '../../support/background.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'

const megabyte = 'x'.repeat(1_000_000)
/** As much as the metadata of a trace may have. */
const metadata = { note: 'x'.repeat(65_000) }

const interfaces = [
  ['chat', '/v1/chat/completions', chatRequest],
  ['responses', '/v1/responses', { model: 'acme/river', input: 'How high is it?' }],
] as const

/** The row of a request with this body, whatever the reply was. */
async function rowOf({ app, billing }: BillingScenario, path: string, body: object) {
  const reply = await app.request(path, { body })
  await reply.text()
  return { status: reply.status, row: await billing.usageOf(reply.headers.get('x-request-id') ?? '') }
}

describe.each(interfaces)('the usage row of a request to %s', (_, path, body) => {
  test('stores 256 characters of user, and the provider gets all of it', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const user = '🌊'.repeat(300)
    const { status, row } = await rowOf(paid, path, { ...body, user })
    expect([status, row?.user]).toEqual([200, '🌊'.repeat(256)])
    expect((await paid.acme.request(0)).body).toMatchObject({ user })
    expect((await rowOf(paid, path, { ...body, user: 'ada' })).row?.user).toBe('ada')
  })

  test('stores 4 KiB of trace: its metadata is cut first, then what else does not fit', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const ids = { id: 't1', span_id: 's1', parent_span_id: 'p1', name: 'flood', source: 'gauge' }
    const large = await rowOf(paid, path, { ...body, trace: { ...ids, metadata } })
    expect([large.status, large.row?.trace]).toEqual([200, JSON.stringify(ids)])
    const small = { ...ids, metadata: { lake: 'north' } }
    expect((await rowOf(paid, path, { ...body, trace: small })).row?.trace).toBe(JSON.stringify(small))
    // Six bytes a character, as JSON.
    const long = '\u0001'.repeat(256)
    const widest = { id: long, span_id: long, parent_span_id: long, name: long, source: long }
    const { row } = await rowOf(paid, path, { ...body, trace: widest })
    expect(row?.trace).toBe(JSON.stringify({ id: long, span_id: long }))
  })

  test.each([
    ['a model that does not exist', { model: megabyte }, 404, '1'],
    ['a value that is not valid', { temperature: 'hot' }, 400, '1'],
    ['too small a balance for it', { max_tokens: 100, max_output_tokens: 100 }, 402, '0.000000001'],
    ['no balance at all, before its body is read', {}, 402, '0'],
  ])('is small where the request is rejected for %s', async (_, change, status, balance) => {
    await using paid = await startBillingScenario(jsonReply(), { balance })
    const labels = { user: megabyte, trace: { id: 't1', metadata } }
    const found = await rowOf(paid, path, { ...body, ...labels, ...change })
    expect(found.status).toBe(status)
    expect(JSON.stringify(found.row).length).toBeLessThan(1500)
  })
})

test('a performance mode that the Responses API does not know is not stored', async () => {
  await using paid = await startBillingScenario(jsonReply())
  const body = { model: 'acme/river', input: 'How high is it?' }
  for (const performance_mode of [megabyte, { megabyte }]) {
    const { row } = await rowOf(paid, '/v1/responses', { ...body, performance_mode })
    expect(row).toMatchObject({ performance_mode: null })
  }
})

test('the rows of a reservation and of a queued run are bounded for their caller in the same way', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(gatedReply(gate.promise))
  const labels = { user: megabyte, tags: ['night'], trace: { id: 't1', metadata } }
  const { id } = await queueRunRequest(paid.app, labels)
  const [[request, run] = []] = await paid.billing.values(
    'SELECT r.request, responses.run FROM reservations r, responses',
  )
  const { facts, request: sent } = JSON.parse(String(run))
  for (const stored of [JSON.parse(String(request)), facts])
    expect(stored).toMatchObject({ user: 'x'.repeat(256), trace: { id: 't1' } })
  expect(sent).toMatchObject({ user: megabyte, tags: null, trace: null })
  gate.resolve()
  await waitForRun(paid.app, id)
  expect(await paid.billing.waitForUsage(1)).toMatchObject([{ tags: '["night"]', trace: '{"id":"t1"}' }])
  expect((await paid.acme.request(0)).body).toMatchObject({ user: megabyte })
})

import { describe, expect, test } from 'bun:test'
import { weights } from '../../../src/lib/validation/json-bounds.ts'
import { gatedReply } from '../../support/background.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { sharedDatabase } from '../../support/limits.ts'
import { heldBytes, openUnfinishedRequest, waitForHeldBytes, waitForRelease } from '../../support/memory.ts'
import { createResponse, postResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const repeated = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)
const hello = { role: 'user', content: 'a' }
const parts = (count: number) => [{ role: 'user', content: repeated(count, { type: 'text', text: 'a' }) }]

describe('the values of a body', () => {
  test('are held in memory beside its text while the request is open', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(gatedReply(gate.promise))
    const { app, acme } = scenario
    const body = { ...chatRequest, messages: parts(10_000), stream: true }
    const open = app.chat(body)
    await acme.request(0)
    // A part is an object with two names and two strings, of 8 bytes a unit.
    const valueBytes = 10_000 * 8 * (weights.container + 4 * weights.string)
    expect(await heldBytes(app)).toBeWithin(
      JSON.stringify(body).length + valueBytes,
      JSON.stringify(body).length + valueBytes * 1.1,
    )
    gate.resolve()
    await (await open).text()
    await waitForRelease(app)
  })

  test('that do not fit into the memory budget are a 503', async () => {
    await using scenario = await startScenario(jsonReply(), { settings: { memory: { in_flight: '4MiB' } } })
    const { app, acme } = scenario
    const held = await openUnfinishedRequest(app, 'content-length: 100000')
    await waitForHeldBytes(app, (bytes) => bytes === 100_000)
    // 300 kB of text that would take 2.5 MB: more than the half that one organization may have.
    const refused = await app.chat({ ...chatRequest, messages: parts(10_000) })
    expect(await readError(refused)).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(acme.requests).toHaveLength(0)
    held.reset()
    await waitForRelease(app)
  })

  test.each([
    ['messages', { messages: repeated(100_000, hello) }],
    ['messages', { messages: parts(100_000) }],
    ['tools', { tools: repeated(100_000, { type: 'function', function: { name: 'f' } }) }],
    ['anything', { anything: repeated(100_000, {}) }],
    ['anything', { anything: repeated(1_100_000, 1) }],
    ['anything', { anything: repeated(300_000, '') }],
  ])('of which there are too many are a 400 that names %s', async (param, body) => {
    await using scenario = await startScenario(jsonReply())
    const error = await readError(await scenario.app.chat({ ...chatRequest, ...body }))
    expect(error).toMatchObject({ status: 400, param, code: 'invalid_value' })
    expect(error.message).toContain('too many values. At most 1048576 are allowed')
    expect(scenario.acme.requests).toHaveLength(0)
    await waitForRelease(scenario.app)
  })

  test('of which there are too many are a 400 in responses, too', async () => {
    await using scenario = await startScenario(jsonReply())
    const error = await readError(await postResponse(scenario.app, { input: repeated(900_000, {}) }))
    expect(error).toMatchObject({ status: 400, param: 'input', code: 'invalid_value' })
  })
})

describe('a body of more than 64 KiB', () => {
  const long = { ...chatRequest, messages: [{ role: 'user', content: 'x'.repeat(70_000) }] }

  test.each([
    ['an empty balance', 'prepaid', 'insufficient_balance'],
    ['no billing', 'none', 'billing_not_configured'],
  ] as const)('of an organization with %s is a 402 before it is read', async (_, billing, code) => {
    await using paid = await startBillingScenario(jsonReply(), { balance: '0' })
    const { app, acme } = paid
    await paid.billing.fund('default', '0', billing)
    const size = 70_000
    const piece = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`
    for (const [headers, opening] of [
      [`content-length: ${size}`, ''],
      ['transfer-encoding: chunked', piece],
    ] as const) {
      const connection = await openUnfinishedRequest(app, headers, opening)
      const reply = await connection.until(code)
      expect(reply).toStartWith('HTTP/1.1 402 ')
      for (const header of ['x-request-id', 'x-ratelimit-remaining-requests', 'server-timing'])
        expect(reply.toLowerCase()).toContain(`${header}: `)
      expect(reply.toLowerCase()).not.toContain('retry-after')
      const id = /x-request-id: (\S+)/i.exec(reply)?.[1] ?? ''
      expect(await paid.billing.usageOf(id)).toMatchObject({ status: 402, error: code, model: null })
      connection.reset()
    }
    expect(acme.requests).toHaveLength(0)
    await waitForRelease(app)
  })

  test('is still a 401 without a key, and is counted free of charge', async () => {
    await using paid = await startBillingScenario(jsonReply(), { balance: '0' })
    const { app } = paid
    expect((await app.chat(long, { headers: { authorization: null } })).status).toBe(401)
    expect((await app.request('/v1/messages/count_tokens', { body: long })).status).toBe(200)
    const counted = { model: long.model, input: long.messages[0]!.content }
    expect((await app.request('/v1/responses/input_tokens', { body: counted })).status).toBe(200)
    expect((await app.chat({ ...chatRequest, temperature: 9 })).status).toBe(400)
  })

  test('is served to an organization with a balance, and to one that does not pay', async () => {
    await using paid = await startBillingScenario(jsonReply(), { balance: '1' })
    expect((await paid.app.chat(long)).status).toBe(200)
    await paid.billing.fund('free', '0', 'unmetered')
    const headers = { authorization: `Bearer ${await paid.billing.keyOf('free')}` }
    expect((await paid.app.chat(long, { headers })).status).toBe(200)
  })
})

describe('large bodies of one organization', () => {
  const large = JSON.stringify({ ...chatRequest, model: 'no/one', messages: parts(12_000) })

  test('wait in a line: those of another organization are answered in between', async () => {
    const { location, keyOf } = await sharedDatabase()
    await using scenario = await startScenario(jsonReply(), { database: location })
    const { app } = scenario
    const other = await keyOf('other')
    const answered: string[] = []
    const send = async (name: string, headers = {}) => {
      const { status } = await app.chat({}, { body: large, headers })
      answered.push(name)
      return status
    }
    const line = Array.from({ length: 12 }, () => send('line'))
    expect(await send('other', other)).toBe(404)
    expect(answered.indexOf('other')).toBeLessThan(6)
    expect(await Promise.all(line)).toEqual(repeated(12, 404))
  })
})

test('small requests that continue a large conversation, or refer to items, wait in a line that has an end', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app, acme } = scenario
  const { id } = await createResponse(app, { input: 'x'.repeat(300_000) })
  const { id: short } = await createResponse(app, { input: 'Short' })
  const send = (body: object) => postResponse(app, { model: 'no/one', input: 'And?', ...body })
  const reference = [{ type: 'item_reference', id: 'msg_none' }]
  const large = [{ previous_response_id: id }, { input: reference }]
  const bodies = repeated(125, large).flat()
  const statuses = await Promise.all(bodies.map(async (body) => (await send(body)).status))
  // Those beyond the line are refused, and those that wait in it for too long.
  expect(statuses.filter((status) => status === 429).length).toBeWithin(1, 250)
  expect(new Set(statuses)).toEqual(new Set([404, 429]))
  const small = await Promise.all(repeated(250, { previous_response_id: short }).map(send))
  expect(small.map(({ status }) => status)).toEqual(repeated(250, 404))
  expect(acme.requests).toHaveLength(2)
  await waitForRelease(app)
})

test('a conversation with more items and parts than any model reads is a 400', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app, acme } = scenario
  const content = repeated(25_000, { type: 'input_text', text: 'a' })
  const create = (previous_response_id?: string) =>
    createResponse(app, { input: [{ role: 'user', content }], previous_response_id })
  const { id: first } = await create()
  const { id: second } = await create(first)
  const { id: third } = await create(second)
  const error = await readError(await postResponse(app, { input: 'And?', previous_response_id: third }))
  expect(error).toMatchObject({ status: 400, param: 'previous_response_id', code: 'context_length_exceeded' })
  expect(error.message).toContain('at most 65536 items and content parts')
  expect(acme.requests).toHaveLength(3)
  expect((await postResponse(app, { input: 'And?', previous_response_id: second })).status).toBe(200)
})

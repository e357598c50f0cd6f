import { describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { firstKey } from '../../support/app.ts'
import { chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import {
  responseRequest,
  postResponse,
  createResponse,
  responsesPath,
  retrieveResponse,
  streamResponse,
} from '../../support/responses.ts'

const key = firstKey.split('-')[2] ?? ''

describe('a response has a usage row', () => {
  test.each([
    ['not streamed', false],
    ['streamed', true],
  ])('when it is %s', async (_, stream) => {
    await using paid = await startBillingScenario(stream ? streamReply() : jsonReply())
    const labels = { user: 'u-1', tags: ['a', 'b'], trace: { id: 'trace-1', name: 'n' } }
    const reply = await postResponse(paid.app, { stream, ...labels, service_tier: 'flex' })
    await reply.text()
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({
      id: reply.headers.get('x-request-id'),
      api: 'responses',
      key_id: key,
      model: 'acme/river',
      provider: 'acme',
      stream: stream ? 1 : 0,
      status: 200,
      error: null,
      prompt_tokens: 12,
      completion_tokens: 5,
    })
    expect(JSON.stringify(row)).toMatch(/u-1.*trace-1|trace-1.*u-1/)
    expect(JSON.parse(String(row!.tags))).toEqual(['a', 'b'])
    expect(JSON.stringify(row)).not.toContain(responseRequest.input)
  })

  test('with the tokens of the complete conversation', async () => {
    const usage = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 }
    await using paid = await startBillingScenario([jsonReply(), jsonReply(chatOutput({}, { usage }))])
    const { id } = await createResponse(paid.app)
    expect((await createResponse(paid.app, { previous_response_id: id })).usage?.input_tokens).toBe(40)
    expect((await paid.billing.waitForUsage(2)).map((row) => row.prompt_tokens)).toEqual([12, 40])
  })
})

describe('a rejected response request also has a usage row', () => {
  const nothing = { api: 'responses', cost: null, provider: null, prompt_tokens: 0 }

  test.each([
    ['of the wrong type', { ...responseRequest, temperature: 'hot' }, 400, 'invalid_type', null],
    ['that is no JSON', '{', 400, 'invalid_request_error', null],
    ['that is too large', 'x'.repeat(2000), 413, 'request_too_large', null],
    [
      'with tools',
      { ...responseRequest, tools: [{ type: 'function' }] },
      400,
      'unsupported_parameter',
      'acme/river',
    ],
    ['for no model', { ...responseRequest, model: 'acme/sea' }, 404, 'model_not_found', null],
    [
      'that follows nothing',
      { ...responseRequest, previous_response_id: 'resp_1' },
      400,
      'previous_response_not_found',
      'acme/river',
    ],
    [
      'that refers to nothing',
      { ...responseRequest, input: [{ type: 'item_reference', id: 'msg_1' }] },
      404,
      'invalid_request_error',
      'acme/river',
    ],
  ])('for a body %s', async (_, body, status, error, model) => {
    await using paid = await startBillingScenario(jsonReply(), { settings: { max_body: 1000 } })
    const reply = await paid.app.request(responsesPath, { method: 'POST', body })
    expect(reply.status).toBe(status)
    const rows = await paid.billing.waitForUsage(1)
    const id = reply.headers.get('x-request-id')
    expect(rows).toEqual([expect.objectContaining({ ...nothing, id, status, error, model })])
    expect(paid.acme.requests).toEqual([])
  })
})

test.each([responsesPath, '/v1/chat/completions'])(
  'a rejected request to %s with a trailing slash has a usage row',
  async (path) => {
    await using paid = await startBillingScenario(jsonReply())
    const reply = await paid.app.request(`${path}/`, { method: 'POST', body: {} })
    expect(reply.status).toBe(400)
    const api = path === responsesPath ? 'responses' : 'chat'
    expect(await paid.billing.waitForUsage(1)).toEqual([expect.objectContaining({ api, status: 400 })])
  },
)

test('reading or deleting stored responses has no usage row, whatever the outcome', async () => {
  await using paid = await startBillingScenario(jsonReply())
  const { id } = await createResponse(paid.app)
  const path = `${responsesPath}/${id}`
  const requests: readonly (readonly [string, string])[] = [
    ['GET', path],
    ['GET', `${path}?stream=true`],
    ['GET', `${path}?stream=true&starting_after=x`],
    ['GET', `${path}/input_items`],
    ['POST', `${path}/cancel`],
    ['PUT', responsesPath],
    ['GET', responsesPath],
    ['DELETE', path],
    ['DELETE', path],
  ]
  const statuses = []
  for (const [method, address] of requests) {
    const reply = await paid.app.request(address, { method })
    await reply.text()
    statuses.push(reply.status)
  }
  expect(statuses).toEqual([200, 200, 400, 200, 400, 405, 200, 200, 404])
  expect(await paid.billing.waitForUsage(1)).toHaveLength(1)
})

describe('for responses, the limit', () => {
  const limited = (limits: object) => ({ settings: { limits }, clock: () => 0 })

  test('of requests counts every request, and rejects with the time to wait', async () => {
    await using paid = await startBillingScenario(jsonReply(), limited({ requests_per_minute: 2 }))
    const { id } = await createResponse(paid.app)
    await retrieveResponse(paid.app, id)
    for (const reply of [await postResponse(paid.app), await paid.app.request(`${responsesPath}/${id}`)]) {
      expect(await readError(reply)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(reply.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    }
    expect(paid.acme.requests).toHaveLength(1)
  })

  test('of tokens is debited by the counted usage, and rejects before the provider is called', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 895, total_tokens: 995 }
    const options = { ...limited({ tokens_per_minute: 1000 }), model: { max_output_tokens: 1000 } }
    await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), options)
    const reply = await postResponse(paid.app)
    expect(reply.headers.get('x-ratelimit-remaining-tokens')).toBe('5')
    const { id } = (await reply.json()) as { readonly id: string }
    const refused = await readError(await postResponse(paid.app, { previous_response_id: id }))
    expect(refused).toMatchObject({ status: 429, type: 'tokens' })
    expect(paid.acme.requests).toHaveLength(1)
    // To read costs no tokens.
    await retrieveResponse(paid.app, id)
  })

  test('of open calls does not count readers', async () => {
    await using paid = await startBillingScenario(streamReply(), limited({ concurrent_requests: 1 }))
    const { last } = await streamResponse(paid.app)
    const path = `${responsesPath}/${last!.id}?stream=true`
    const readers = await Promise.all([1, 2, 3].map(() => paid.app.request(path)))
    expect((await postResponse(paid.app, { stream: true })).status).toBe(200)
    expect(readers.map(({ status }) => status)).toEqual([200, 200, 200])
    await Promise.all(readers.map((reader) => reader.text()))
  })
})

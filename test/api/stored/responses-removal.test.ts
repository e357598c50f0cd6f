import { describe, expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { openConnection } from '../../support/connection.ts'
import { listInputItems, postResponse, createResponse, responsesPath } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { startOnce } from '../../support/start-once.ts'

const unknown = `resp_${'0'.repeat(32)}`

describe('a deleted response', () => {
  test('is confirmed as deleted, and does not exist for any reader', async () => {
    await using scenario = await startScenario(jsonReply())
    const { app } = scenario
    const { id } = await createResponse(app)
    const reply = await app.request(`${responsesPath}/${id}`, { method: 'DELETE' })
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { id, object: 'response.deleted', deleted: true },
    ])
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['GET', `/${id}?stream=true`],
      ['GET', `/${id}/input_items`],
      ['POST', `/${id}/cancel`],
      ['DELETE', `/${id}`],
    ] as const) {
      const error = await readError(await app.request(responsesPath + path, { method }))
      expect(error).toEqual({
        status: 404,
        message: `Response with id '${id}' not found.`,
        type: 'invalid_request_error',
        param: null,
        code: null,
      })
    }
    expect((await postResponse(app, { previous_response_id: id })).status).toBe(400)
  })

  test('leaves its neighbours unchanged', async () => {
    await using scenario = await startScenario(jsonReply())
    const [first, second] = [await createResponse(scenario.app), await createResponse(scenario.app)]
    await scenario.app.request(`${responsesPath}/${first.id}`, { method: 'DELETE' })
    expect((await scenario.app.request(`${responsesPath}/${second.id}`)).status).toBe(200)
  })
})

const names = [
  'abc',
  unknown,
  `${unknown}0`,
  'chatcmpl-1',
  '%00',
  'a%2Fb',
  '..',
  '%ff',
  'é',
  'a'.repeat(2000),
]

/** A gateway of tests that each create their own responses. */
const started = startOnce(() => startScenario(jsonReply()))

test.each(names.map((id) => [id.slice(0, 40), id] as const))(
  'a request for the response “%s” is a 404',
  async (_, id) => {
    const scenario = await started()
    const path = `${responsesPath}/x/../${id}`.replace('x/../..', '%2E%2E').replace('x/../', '')
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '?stream=1'],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['GET', '/input_items'],
    ] as const) {
      const error = await readError(await scenario.app.request(path + more, { method }))
      expect(error).toMatchObject({ type: 'invalid_request_error', param: null })
      expect([404, 405]).toContain(error.status)
      expect(error.message.length).toBeLessThan(2200)
    }
    expect(scenario.app.lines).toEqual([])
  },
)

test.each([
  ['DELETE', '', 'GET, POST'],
  ['PUT', `/${unknown}`, 'DELETE, GET'],
  ['POST', `/${unknown}`, 'DELETE, GET'],
  ['GET', `/${unknown}/cancel`, 'POST'],
  ['DELETE', `/${unknown}/cancel`, 'POST'],
  ['POST', `/${unknown}/input_items`, 'GET'],
])('%s /v1/responses%s is rejected', async (method, path, allowed) => {
  const scenario = await started()
  const reply = await scenario.app.request(responsesPath + path, { method })
  expect(reply.headers.get('allow')).toBe(allowed)
  expect(await readError(reply)).toMatchObject({ status: 405, code: 'method_not_supported' })
})

test('a response in the foreground cannot be cancelled', async () => {
  const scenario = await started()
  const { id } = await createResponse(scenario.app)
  const reply = await scenario.app.request(`${responsesPath}/${id}/cancel`, { method: 'POST' })
  expect(await readError(reply)).toEqual({
    status: 400,
    message: 'Cannot cancel a synchronous response.',
    type: 'invalid_request_error',
    param: null,
    code: null,
  })
})

describe('a request is accepted as clients send it:', () => {
  const bodies: Record<string, readonly [string, string]> = {
    'without a body': ['', ''],
    'with an empty body': ['content-length: 0\r\n', ''],
    'with an empty body of JSON': ['content-type: application/json\r\ncontent-length: 0\r\n', ''],
    'with an empty object': ['content-type: application/json\r\ncontent-length: 2\r\n', '{}'],
    'with an empty body in chunks': ['transfer-encoding: chunked\r\n', '0\r\n\r\n'],
  }
  const requests = ['DELETE', 'POST'].flatMap((method) =>
    Object.entries(bodies).map(([name, [head, body]]) => [method, name, head, body] as const),
  )

  test.each(requests)('%s %s', async (method, _, head, body) => {
    const scenario = await started()
    const { id } = await createResponse(scenario.app)
    const connection = await openConnection(scenario.app.url)
    const path = `${responsesPath}/${id}${method === 'POST' ? '/cancel' : ''}`
    const headers = `host: a\r\naccept: */*\r\nauthorization: Bearer ${scenario.app.key}\r\nconnection: close\r\n`
    connection.write(`${method} ${path} HTTP/1.1\r\n${headers}${head}\r\n${body}`)
    const reply = await connection.end()
    const received = method === 'POST' ? 'Cannot cancel a synchronous response.' : '"deleted":true'
    expect(reply).toStartWith(`HTTP/1.1 ${method === 'POST' ? 400 : 200} `)
    expect(reply).toContain(received)
  })
})

describe('the input items of a response', () => {
  const input = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }))
  const item = (id: string, text: string) => ({
    type: 'message',
    id,
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_text', text }],
  })

  test('are listed in descending order unless another order is requested', async () => {
    await using scenario = await startScenario(jsonReply())
    const { id } = await createResponse(scenario.app, { input })
    const ids = [0, 1, 2].map((index) => `msg_${id.slice(5)}i${index}`)
    const [a, b, c] = [item(ids[0]!, 'a'), item(ids[1]!, 'b'), item(ids[2]!, 'c')]
    const list = { object: 'list', has_more: false }
    expect<unknown>(await listInputItems(scenario.app, id)).toEqual({
      ...list,
      data: [c, b, a],
      first_id: c.id,
      last_id: a.id,
    })
    expect<unknown>(await listInputItems(scenario.app, id, 'order=asc&limit=2')).toEqual({
      ...list,
      data: [a, b],
      first_id: a.id,
      last_id: b.id,
      has_more: true,
    })
    expect((await listInputItems(scenario.app, id, `order=asc&after=${b.id}`)).data).toEqual([c])
    expect((await listInputItems(scenario.app, id, `after=${a.id}`)).data).toEqual([])
  })

  test('are those of its own request, with its references resolved', async () => {
    await using scenario = await startScenario(jsonReply())
    const first = await createResponse(scenario.app)
    const reference = { type: 'item_reference', id: first.output[0]!.id }
    const more = { previous_response_id: first.id, input: [reference, { type: 'telegram', text: 'STOP' }] }
    const { id } = await createResponse(scenario.app, { ...more, input: [...more.input, input[0]] })
    const { data } = await listInputItems(scenario.app, id, 'order=asc')
    expect(data.map(({ type }) => type)).toEqual(['message', 'telegram', 'message'])
    expect(data[0]).toMatchObject({ id: reference.id, role: 'assistant' })
    expect(data[1]).toMatchObject({ text: 'STOP', id: expect.stringMatching(/^item_/) })
  })

  test.each([
    ['limit=0', 'limit', 'integer_below_min_value'],
    ['limit=101', 'limit', 'integer_above_max_value'],
    ['order=up', 'order', 'invalid_value'],
    ['after=msg_1', 'after', 'invalid_value'],
  ])('are not listed for %s', async (query, param, code) => {
    const scenario = await started()
    const { id } = await createResponse(scenario.app)
    const reply = await scenario.app.request(`${responsesPath}/${id}/input_items?${query}`)
    expect(await readError(reply)).toMatchObject({ status: 400, param, code })
  })
})

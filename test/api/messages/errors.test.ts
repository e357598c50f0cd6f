import { readPieces } from '../../support/body-reader.ts'
import { describe, expect, test } from 'bun:test'
import type { AnthropicErrorBody } from '../../../src/http/anthropic-error.ts'
import { fieldsOf } from '../../../src/lib/json/json.ts'
import { chunks, delta, jsonReply } from '../../support/chat-fixtures.ts'
import {
  anthropicFrame,
  messageRequest,
  parseFrames,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'
import { breakOff, events, finish, json } from '../../support/script.ts'

/** The error of a reply, which has the envelope of Anthropic's API and the id of the header. */
async function readError(reply: Response) {
  const body = (await reply.json()) as AnthropicErrorBody
  expect(Object.keys(body).toSorted()).toEqual(['error', 'request_id', 'type'])
  expect(body.type).toBe('error')
  expect<string | null>(body.request_id).toBe(reply.headers.get('request-id'))
  expect<string | null>(body.request_id).toBe(reply.headers.get('x-request-id'))
  return { status: reply.status, ...body.error }
}

describe('the Messages API replies with an error in its own form', () => {
  const bad = { authorization: 'Bearer sk-weir-wrong' }
  const compressed = { 'content-encoding': 'gzip' }
  test.each<readonly [number, string, string, object]>([
    [401, 'authentication_error', '/v1/messages', { body: {}, headers: { authorization: null } }],
    [401, 'authentication_error', '/v1/messages', { body: {}, headers: bad }],
    [401, 'authentication_error', '/v1/messages/count_tokens', { body: {}, headers: bad }],
    [400, 'invalid_request_error', '/v1/messages', { body: '{' }],
    [400, 'invalid_request_error', '/v1/messages', { body: { ...messageRequest, max_tokens: undefined } }],
    [400, 'invalid_request_error', '/v1/messages/count_tokens', { body: { model: 'acme/river' } }],
    [404, 'not_found_error', '/v1/messages', { body: { ...messageRequest, model: 'acme/lake' } }],
    [404, 'not_found_error', '/v1/messages/batches', { body: {} }],
    [404, 'not_found_error', '/v1/complete', { body: {}, headers: { 'anthropic-version': '2023-06-01' } }],
    [405, 'invalid_request_error', '/v1/messages', { method: 'GET' }],
    [413, 'request_too_large', '/v1/messages', { body: 'x'.repeat(3 * 1024 * 1024) }],
    [415, 'invalid_request_error', '/v1/messages', { body: '{}', headers: compressed }],
  ])('%i %s at %s', async (status, type, path, options) => {
    await using scenario = await startScenario(jsonReply(), { settings: { max_body: '2MiB' } })
    const reply = await scenario.app.request(path, options)
    const error = await readError(reply)
    expect(error).toMatchObject({ status, type })
    expect(error.message).toBeString()
    expect(reply.headers.get('x-should-retry')).toBe(status === 401 ? 'false' : null)
    expect(scenario.acme.requests).toEqual([])
  })

  test.each<readonly [number, string, number, object, RegExp]>([
    [429, 'api_error', 502, { type: 'error', error: { type: 'rate_limit_error', message: 'Slow.' } }, /acme/],
    [500, 'api_error', 502, { type: 'error', error: { type: 'api_error', message: 'Oops.' } }, /acme/],
    [
      400,
      'invalid_request_error',
      400,
      { error: { message: 'Maximum context length is 8192 tokens.', code: 'context_length_exceeded' } },
      /^prompt is too long: Maximum context/,
    ],
  ])('when the provider replies with %i', async (upstream, type, status, body, message) => {
    await using scenario = await startScenario(json(body, { status: upstream }))
    const error = await readError(await sendMessage(scenario.app))
    expect(error).toMatchObject({ status, type })
    expect(error.message).toMatch(message)
  })

  test('other APIs keep theirs', async () => {
    await using scenario = await startScenario(jsonReply())
    const reply = await scenario.app.chat({})
    expect(Object.keys(fieldsOf(await reply.json()))).toEqual(['error'])
    expect(reply.headers.has('request-id')).toBe(false)
    expect([...reply.headers.keys()].filter((name) => name.startsWith('anthropic-'))).toEqual([])
  })

  test('for threads, which clients recognize by its details', async () => {
    await using scenario = await startScenario(jsonReply())
    const reply = await sendMessage(scenario.app, { ...messageRequest, thread: { type: 'create' } })
    expect(await readError(reply)).toMatchObject({
      status: 400,
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    })
  })
})

describe('a stream that breaks ends with an error and no end of the message', () => {
  const opening = [
    anthropicFrame({ type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } }),
    anthropicFrame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    anthropicFrame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It is' } }),
  ]
  const failure = anthropicFrame({
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded' },
  })
  test.each([
    ['the connection breaks', [], breakOff],
    ['the body ends early', [], finish],
    ['the provider reports a failure', [failure], finish],
  ])('when %s', async (_, rest, end) => {
    const received = Promise.withResolvers<void>()
    await using scenario = await startAnthropicScenario(events([...opening, received.promise, ...rest], end))
    const reply = await sendMessage(scenario.app, { ...messageRequest, stream: true })
    // A connection that breaks at once takes the frames with it that were not read.
    await readPieces(reply.clone()).until('It is')
    received.resolve()
    const all = parseFrames(await reply.text())
    expect(all.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'error',
    ])
    expect(all.at(-1)).toMatchObject({
      error: { type: 'api_error', message: expect.stringMatching(/acme.* \(server error\)\.$/) },
      request_id: reply.headers.get('request-id'),
    })
  })

  test('when a chat completions provider breaks within a tool call', async () => {
    const call = { index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '{"a' } }
    const received = Promise.withResolvers<void>()
    const script = chunks([delta({ tool_calls: [call] }), received.promise], breakOff)
    await using scenario = await startScenario(script)
    const reply = await sendMessage(scenario.app, { ...messageRequest, stream: true })
    await readPieces(reply.clone()).until('call_a')
    received.resolve()
    const all = parseFrames(await reply.text())
    expect(all.at(-1)?.type).toBe('error')
    expect(all.map(({ type }) => type)).not.toContain('message_stop')
  })
})

test('an idle stream is kept open with pings', async () => {
  const gate = Promise.withResolvers<void>()
  const end = [
    anthropicFrame({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
    anthropicFrame({ type: 'message_stop' }),
  ]
  const script = events([anthropicFrame({ type: 'ping' }), gate.promise, ...end])
  await using scenario = await startAnthropicScenario(script, { patience: 10 })
  const reply = await sendMessage(scenario.app, { ...messageRequest, stream: true })
  const reader = reply.body?.getReader()
  const first = await reader?.read()
  expect(new TextDecoder().decode(first?.value)).toBe('event: ping\ndata: {"type":"ping"}\n\n')
  gate.resolve()
  await reader?.cancel()
})

test('HEAD / is answered without a key', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app } = scenario
  const reply = await app.request('/', { method: 'HEAD', headers: { authorization: null } })
  expect([reply.status, await reply.text()]).toEqual([200, ''])
  expect((await app.request('/')).status).toBe(200)
  // Only the request for the metrics itself is open.
  expect(await (await app.request('/metrics')).text()).toContain('weir_in_flight{kind="requests"} 1\n')
})

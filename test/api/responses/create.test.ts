import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { responseRequest, postResponse, createResponse, textOf } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'

const form = Compile(ResponseObject)
const items = (text: string): object[] => [{ role: 'user', content: text }]

/** The upstream request and the response, for a plain request with these fields. */
async function answerTo(body: object, ...options: Parameters<typeof startScenario> | []) {
  await using scenario = await startScenario(options[0] ?? jsonReply(), options[1])
  const response = await createResponse(scenario.app, body)
  return { response, upstream: scenario.acme.requests[0]!.body, lines: scenario.app.lines }
}

test('a response has every field of the API, and those that clients expect beside it', async () => {
  const { response } = await answerTo({})
  const digits = response.id.slice('resp_'.length)
  expect(digits).toMatch(/^[0-9a-f]{32}$/)
  const content = [{ type: 'output_text', text: 'It is four metres.', annotations: [], logprobs: [] }]
  expect<object>(response).toEqual({
    id: `resp_${digits}`,
    object: 'response',
    created_at: expect.any(Number),
    status: 'completed',
    background: false,
    completed_at: expect.any(Number),
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'acme/river',
    provider: 'acme',
    output: [{ id: `msg_${digits}00`, type: 'message', status: 'completed', role: 'assistant', content }],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: null,
    store: true,
    temperature: null,
    top_p: null,
    truncation: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    service_tier: 'default',
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    safety_identifier: null,
    prompt_cache_key: null,
    user: null,
    usage: {
      input_tokens: 12,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 17,
    },
    metadata: {},
  })
  expect(Math.abs(response.created_at - Date.now() / 1000)).toBeLessThan(60)
})

test('a response has the headers of every reply that is not a stream', async () => {
  const model = { pricing: { input: 1, output: 10 } }
  await using scenario = await startScenario(jsonReply(), { model })
  const { status, headers } = await postResponse(scenario.app)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(headers.get('x-request-id')).toMatch(/^req_/)
  expect(headers.get('x-weir-cost')).toBe('0.000062000')
  expect(headers.get('server-timing')).toMatch(/^gateway;dur=[\d.]+, upstream;dur=[\d.]+$/)
  expect(headers.get('x-ratelimit-limit-requests')).toBe('6000')
})

describe('a response echoes the parameters of its request:', () => {
  const echoes: readonly object[] = [
    { instructions: 'Be brief.' },
    { max_output_tokens: 50 },
    { temperature: 0.5 },
    { top_p: 0 },
    { parallel_tool_calls: false },
    { store: false },
    { tool_choice: 'none' },
    { truncation: 'disabled' },
    { user: 'u-1' },
    { metadata: { a: 'b', c: [1] } },
    { text: { format: { type: 'json_object' }, verbosity: 'low' } },
  ]

  test.each(echoes.map((body) => [JSON.stringify(body), body] as const))('%s', async (_, body) => {
    const { response } = await answerTo(body)
    expect(response).toMatchObject(body)
    expect(response).not.toHaveProperty('warnings')
    expect(form.Check(response)).toBe(true)
  })

  test.each<[object, object]>([
    [{ reasoning: { effort: 'high' } }, { reasoning: { effort: 'high', summary: null } }],
    [{ reasoning: { summary: 'auto' } }, { reasoning: { effort: null, summary: 'auto' } }],
    [{ reasoning: {} }, { reasoning: { effort: null, summary: null } }],
    [{ reasoning: null }, { reasoning: null }],
    [{ metadata: null }, { metadata: {} }],
    [{ text: {} }, { text: { format: { type: 'text' } } }],
    [{ tools: [] }, { tools: [] }],
    [{ service_tier: 'flex' }, { service_tier: 'default' }],
  ])('with %j as %j', async (body, received) => {
    expect((await answerTo(body)).response).toMatchObject(received)
  })
})

describe('the input of a response reaches the provider:', () => {
  const user = { role: 'user', content: 'How high is it?' }

  test.each<[string, unknown, readonly object[]]>([
    ['a text', 'How high is it?', [user]],
    ['a message', [{ type: 'message', ...user }], [user]],
    ['a message without a type', [user], [user]],
    [
      'a message with an id and a status',
      [{ ...user, id: 'msg_1', status: 'completed', phase: 'final_answer' }],
      [user],
    ],
    ['parts of text', [{ role: 'user', content: [{ type: 'input_text', text: user.content }] }], [user]],
    [
      'other roles',
      [{ role: 'system', content: 'A.' }, { role: 'developer', content: 'B.' }, user],
      [{ role: 'system', content: 'A.' }, { role: 'developer', content: 'B.' }, user],
    ],
    [
      'an earlier output with its reasoning',
      [
        user,
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Four.', annotations: [], logprobs: [] }],
        },
        user,
      ],
      [user, { role: 'assistant', content: 'Four.' }, user],
    ],
    [
      'an image',
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
      ],
    ],
  ])('%s', async (_, input, messages) => {
    const { response, upstream } = await answerTo({ input })
    expect<unknown>(upstream.messages).toEqual(messages)
    expect(response).not.toHaveProperty('warnings')
  })

  test('with the instructions first', async () => {
    const { upstream } = await answerTo({ instructions: 'Be brief.', input: [user] })
    expect<unknown>(upstream.messages).toEqual([{ role: 'system', content: 'Be brief.' }, user])
  })
})

test('the parameters of a response reach the provider under its names, without those for the gateway alone', async () => {
  const schema = { type: 'object', properties: { metres: { type: 'number' } } }
  const { upstream } = await answerTo({
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'height', schema, strict: true } },
    user: 'u-1',
    top_k: 3,
    metadata: { secret: 'a' },
    tags: ['t'],
    trace: { id: 'trace-1' },
    store: true,
  })
  expect(upstream).toMatchObject({
    model: 'river-1',
    temperature: 0.5,
    top_p: 0.9,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'height', schema, strict: true } },
    top_k: 3,
  })
  expect(upstream.max_tokens ?? upstream.max_completion_tokens).toBe(50)
  expect(JSON.stringify(upstream)).not.toMatch(/secret|trace|tags|metadata|"store":true|instructions|"input"/)
})

describe('a response has one warning', () => {
  test.each<[object, RegExp]>([
    [
      { input: [...items(responseRequest.input), { type: 'telegram', text: 'a' }] },
      /^Item type .telegram. is not/,
    ],
    [{ truncation: 'auto' }, /truncation/],
    [{ include: ['file_search_call.results'] }, /^Include value/],
    [{ conversation: 'conv_1' }, /conversation/],
    [{ stop: ['a'] }, /stop/],
  ])('for each ignored field: %j', async (body, message) => {
    const { response, upstream } = await answerTo(body)
    expect(response.warnings).toHaveLength(1)
    expect(response.warnings?.[0]).toMatch(message)
    expect(JSON.stringify(upstream)).not.toMatch(/telegram|truncation|include|conv_1|"stop"/)
  })

  test('for usage that no provider reported and that is estimated', async () => {
    const { response } = await answerTo({}, jsonReply(chatOutput({}, { usage: undefined })))
    expect(response.warnings).toEqual([expect.stringContaining('estimated')])
    expect(response.usage?.input_tokens).toBeGreaterThan(0)
    expect(response.usage?.output_tokens).toBeGreaterThan(0)
  })
})

test.each([
  ['the output limit', 'length', 'max_output_tokens'],
  ['a filter', 'content_filter', 'content_filter'],
])('an output that %s stopped is incomplete', async (_, finish, reason) => {
  const { response } = await answerTo({}, jsonReply(chatOutput({ finish })))
  expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason }, completed_at: null })
  expect(response.output).toMatchObject([{ status: 'incomplete' }])
  expect(textOf(response)).toBe('It is four metres.')
  expect(form.Check(response)).toBe(true)
})

test('a model that is requested by an alias is reported by its slug', async () => {
  const { response } = await answerTo({ model: 'stream' }, jsonReply(), { model: { aliases: ['stream'] } })
  expect(response.model).toBe('acme/river')
})

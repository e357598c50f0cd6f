import { describe, expect, test } from 'bun:test'
import { firstKey } from '../../support/app.ts'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { providerKey, chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'

/** What the provider is sent for this request. */
async function sentFor(body: object, options: ScenarioOptions = {}) {
  await using scenario = await startScenario('stream' in body ? streamReply() : jsonReply(), options)
  const response = await scenario.app.chat({ ...chatRequest, ...body })
  const reply = await response.text()
  const [request] = scenario.acme.requests
  if (!request) throw new Error(`Nothing went upstream: ${reply}`)
  return { ...request, reply }
}

const tools = [
  {
    type: 'function',
    function: {
      name: 'read_level',
      description: 'Reads a level.',
      parameters: { type: 'object', properties: { place: { type: 'string' } } },
      strict: true,
    },
  },
]

describe('the upstream request', () => {
  test('of a plain prompt has the provider’s name for the model, and nothing else', async () => {
    const { body, method, path } = await sentFor({})
    expect(body).toEqual({ model: 'river-1', messages: chatRequest.messages })
    expect([method, path]).toEqual(['POST', '/v1/chat/completions'])
  })

  const carried: readonly (readonly [name: string, body: object])[] = [
    ['sampling', { temperature: 0.3, top_p: 0.9, seed: -7, frequency_penalty: 1, presence_penalty: -1 }],
    ['limits', { max_tokens: 77, n: 3, stop: ['a', 'b'] }],
    ['biases', { logit_bias: { '42': -100 } }],
    ['tools', { tools, tool_choice: 'required', parallel_tool_calls: false }],
    ['a forced tool', { tools, tool_choice: { type: 'function', function: { name: 'read_level' } } }],
    ['json mode', { response_format: { type: 'json_object' } }],
    [
      'a response schema',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'level', strict: true, schema: { type: 'object', properties: { m: {} } } },
        },
      },
    ],
    ['an effort', { reasoning_effort: 'high' }],
    ['a tier and a user', { service_tier: 'flex', user: 'user-1' }],
    [
      'an image',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD', detail: 'low' } },
            ],
          },
        ],
      },
    ],
    [
      'a tool loop',
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Read it.', name: 'ada' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read_level', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c1', content: '4 m' },
        ],
      },
    ],
    ['properties that the API does not name', { top_k: 5, verbosity: 'low', a: { b: [null] } }],
  ]

  test.each([...carried])('has the value that the caller sent: %s', async (_, body) => {
    expect((await sentFor(body)).body).toEqual({ model: 'river-1', messages: chatRequest.messages, ...body })
  })

  test('has one stop sequence as a list, and max_completion_tokens under its common name', async () => {
    const { body } = await sentFor({ stop: 'END', max_completion_tokens: 9 })
    expect(body).toMatchObject({ stop: ['END'], max_tokens: 9 })
    expect(body).not.toHaveProperty('max_completion_tokens')
  })

  test.each([[{}], [{ stream_options: null }], [{ stream_options: { include_usage: false } }]])(
    'of a stream always requests usage: %j',
    async (options) => {
      const { body } = await sentFor({ stream: true, ...options })
      expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    },
  )

  test('has no parameter that is for the gateway alone', async () => {
    const secret = 'for-the-gateway'
    const { text, body, headers } = await sentFor({
      tags: [secret],
      metadata: { secret },
      trace: { id: secret, name: secret },
      store: true,
      performance_mode: 'standard',
      logprobs: true,
      top_logprobs: 3,
    })
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model'])
    expect(text).not.toContain(secret)
    expect(JSON.stringify(headers.toJSON())).not.toContain(secret)
  })

  test('has no null and no default values', async () => {
    const { body } = await sentFor({
      temperature: null,
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      n: 1,
      response_format: { type: 'text' },
      stop: [],
      max_tokens: null,
      stream_options: null,
      user: null,
    })
    expect(body).toEqual({ model: 'river-1', messages: chatRequest.messages })
  })

  test('has the content of an earlier reply that is sent back, without the fields that only replies have', async () => {
    const output = { role: 'assistant', content: 'It stands at 3 m.' }
    const reply = {
      ...output,
      reasoning: 'The gauge said so.',
      refusal: null,
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://river.example' } }],
      cache_control: { x: 1 },
    }
    const { body } = await sentFor({ messages: [...chatRequest.messages, reply, ...chatRequest.messages] })
    expect(body.messages).toEqual([
      ...chatRequest.messages,
      { ...output, cache_control: { x: 1 } },
      ...chatRequest.messages,
    ])
  })

  test('has unknown properties, which replace nothing that the gateway sets', async () => {
    const { body, reply } = await sentFor({
      Model: 'other',
      stream_option: 1,
      ['__proto__']: { model: 'other' },
    })
    expect(body.model).toBe('river-1')
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
    expect(body).toMatchObject({ stream_option: 1 })
    // Some providers read a name in any letters.
    expect(body).not.toHaveProperty('Model')
    expect(JSON.parse(reply).warnings).toEqual(['Parameter `Model` is not supported and was ignored.'])
  })
})

describe('the headers of the upstream request', () => {
  test('have the provider’s key and never that of the caller', async () => {
    const { headers, text } = await sentFor({})
    expect(headers.get('authorization')).toBe(`Bearer ${providerKey}`)
    expect(JSON.stringify(headers.toJSON()) + text).not.toContain(firstKey.slice(0, 12))
  })

  test('have no header of the caller', async () => {
    await using scenario = await startScenario(jsonReply())
    const headers = {
      'x-api-key': firstKey,
      'openai-organization': 'org-1',
      cookie: 'a=b',
      'x-forwarded-for': '1.2.3.4',
    }
    await scenario.app.chat(chatRequest, { headers })
    const sent = scenario.acme.requests[0]?.headers.toJSON() ?? {}
    expect(Object.keys(sent).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ])
  })

  test('have the configured headers, and no authorization without a key', async () => {
    const provider = { headers: { 'x-team': 'research' } }
    expect((await sentFor({}, { provider })).headers.get('x-team')).toBe('research')
    const keyless = await sentFor({}, { provider: { api_key: undefined } })
    expect(keyless.headers.has('authorization')).toBe(false)
  })
})

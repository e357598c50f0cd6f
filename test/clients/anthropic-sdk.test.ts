import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../src/lib/json/json.ts'
import { chatOutput, chunks, delta, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { anthropicReply, anthropicStream } from '../support/messages.ts'
import { type Scenario, type ScenarioOptions, startScenario } from '../support/scenario.ts'
import { breakOff, type Script } from '../support/script.ts'

const params = {
  model: 'acme/river',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'How high is it?' }],
}
const text = 'It is four metres.'
const calling = chatOutput({
  text: undefined,
  calls: [{ id: 'call_a', name: 'measure', arguments: ['{"river"', ':"Elbe"}'] }],
  finish: 'tool_calls',
})

async function startWithClient(
  scripts: Script | readonly Script[],
  options: ScenarioOptions = {},
): Promise<Scenario & { readonly client: Anthropic }> {
  const scenario = await startScenario(scripts, options)
  const { url, key } = scenario.app
  return { ...scenario, client: new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }) }
}

describe('a message in the Anthropic client', () => {
  test('has its text, its usage and its request id', async () => {
    await using scenario = await startWithClient(jsonReply())
    const message = await scenario.client.messages.create(params)
    expect(message.content).toEqual([{ type: 'text', text }] as never)
    expect(message).toMatchObject({ model: 'acme/river', stop_reason: 'end_turn' })
    expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 5 })
    expect(message._request_id).toStartWith('req_')
  })

  test('is sent with a bearer token', async () => {
    await using scenario = await startWithClient(jsonReply())
    const { url, key } = scenario.app
    const client = new Anthropic({ baseURL: url, apiKey: null, authToken: key, maxRetries: 0 })
    expect((await client.messages.create(params)).type).toBe('message')
  })

  test('is streamed event by event', async () => {
    await using scenario = await startWithClient(streamReply())
    const types: string[] = []
    for await (const event of await scenario.client.messages.create({ ...params, stream: true }))
      types.push(event.type)
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('is folded by the stream helper', async () => {
    await using scenario = await startWithClient(
      streamReply(chatOutput({ reasoning: ['A gauge ', 'knows.'] })),
    )
    const pieces: string[] = []
    const stream = scenario.client.messages.stream(params).on('text', (piece) => pieces.push(piece))
    const message = await stream.finalMessage()
    expect(pieces).toEqual(['It is ', 'four metres.'])
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'A gauge knows.', signature: expect.stringMatching(/^weir1\./) },
      { type: 'text', text },
    ])
    expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 5 })
    expect(stream.request_id).toStartWith('req_')
  })

  test('keeps the thinking of Anthropic over the turns of a tool loop', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
    const call = {
      type: 'tool_use',
      id: 'toolu_01A09q90qw90lq917835lq9',
      name: 'measure',
      input: { river: 'Elbe' },
    }
    const ending = { stop_reason: 'tool_use' }
    const scripts = [anthropicStream([thinking, call], ending), anthropicReply([{ type: 'text', text }])]
    await using scenario = await startWithClient(scripts, { provider: { kind: 'anthropic' } })
    const tools = [{ name: 'measure', input_schema: { type: 'object' as const } }]
    const body = {
      ...params,
      max_tokens: 3000,
      tools,
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
    }
    const first = await scenario.client.messages.stream(body).finalMessage()
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: '4 m' }
    const turns = [
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [result] },
    ]
    const second = await scenario.client.messages.create({
      ...body,
      messages: [...params.messages, ...turns],
    })
    expect(second.content).toMatchObject([{ type: 'text', text }])
    expect<unknown>(scenario.acme.requests[1]?.body.messages).toMatchObject([
      params.messages[0],
      { role: 'assistant', content: [thinking, call] },
      { role: 'user', content: [result] },
    ])
  })

  test('has its tokens counted', async () => {
    await using scenario = await startWithClient(jsonReply())
    const { model, messages } = params
    expect((await scenario.client.messages.countTokens({ model, messages })).input_tokens).toBe(8)
  })
})

describe('the tool runner of the Anthropic client', () => {
  test.each([
    ['streams', true],
    ['does not stream', false],
  ])('runs tools without threads where it %s', async (_, stream) => {
    const measured: unknown[] = []
    const measure = betaTool({
      name: 'measure',
      description: 'Measures a river.',
      inputSchema: { type: 'object', properties: { river: { type: 'string' } }, required: ['river'] },
      run: (input) => {
        measured.push(input)
        return '4.0'
      },
    })
    const reply = stream ? streamReply : jsonReply
    await using scenario = await startWithClient([reply(calling), reply()])
    const runner = scenario.client.beta.messages.toolRunner({ ...params, tools: [measure], stream })
    const message = await runner.runUntilDone()
    expect(message.content).toMatchObject([{ type: 'text', text }])
    expect(measured).toEqual([{ river: 'Elbe' }])
    // The rejected request, and the two of the conversation.
    await scenario.app.requestLines.beyond(2)
    expect(rejectedParameters(scenario)).toEqual(['thread'])
    expect<unknown>(scenario.acme.requests[1]?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_a' }] },
      { role: 'tool', tool_call_id: 'call_a', content: '4.0' },
    ])
  })
})

/** The parameters for which requests were rejected. */
function rejectedParameters({ app }: Scenario): unknown[] {
  const lines = app.requestLines.all.map((line) => fieldsOf(JSON.parse(line)))
  return lines.filter(({ status }) => status === 400).map(({ param }) => param)
}

describe('the Anthropic client lists', () => {
  test('all models, page by page', async () => {
    const routes = [{ provider: 'acme', model: 'm' }]
    const models = ['a/one', 'b/two', 'c/three'].map((slug) => ({ slug, routes }))
    await using scenario = await startWithClient([], { models })
    const ids: string[] = []
    for await (const model of scenario.client.models.list({ limit: 2 })) ids.push(model.id)
    expect(ids).toEqual(['a/one', 'acme/river', 'b/two', 'c/three'])
    expect(await scenario.client.models.retrieve('acme/river')).toMatchObject({
      type: 'model',
      id: 'acme/river',
    })
  })
})

describe('an error in the Anthropic client', () => {
  async function failureOf(promise: Promise<unknown>): Promise<APIError> {
    const error = await promise.then(
      () => undefined,
      (failure: unknown) => failure,
    )
    if (error instanceof APIError) return error
    throw new Error(`Not an error of the API: ${error}`)
  }

  test('has its class, its type and its request id', async () => {
    await using scenario = await startWithClient(jsonReply(), {
      settings: { limits: { requests_per_minute: 4 } },
    })
    const { client, app } = scenario
    const wrong = new Anthropic({ baseURL: app.url, apiKey: 'sk-weir-wrong' })
    const missing = { ...params, max_tokens: undefined } as unknown as typeof params
    const cases = [
      [AuthenticationError, 'authentication_error', await failureOf(wrong.messages.create(params))],
      [
        NotFoundError,
        'not_found_error',
        await failureOf(client.messages.create({ ...params, model: 'a/b' })),
      ],
      [BadRequestError, 'invalid_request_error', await failureOf(client.messages.create(missing))],
    ] as const
    for (const [Class, type, error] of cases) {
      expect(error).toBeInstanceOf(Class)
      expect(error.type).toBe(type)
      expect(error.requestID).toStartWith('req_')
    }
    await client.messages.create(params)
    await client.messages.create(params)
    const limited = await failureOf(client.messages.create(params))
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited.type).toBe('rate_limit_error')
  })

  test('ends a stream that breaks', async () => {
    await using scenario = await startWithClient(chunks([delta({ content: 'It' })], breakOff))
    const error = await failureOf(scenario.client.messages.stream(params).finalMessage())
    expect(error.type).toBe('api_error')
    expect(error.message).toContain('acme')
  })
})

import { describe, expect, test } from 'bun:test'
import { type Fields, fieldsOf, isObject, listOf } from '../../../src/lib/json/json.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { fixtureReply } from '../../support/messages.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'

// Some engines number the calls of a response, so that `call_0` is a call of each turn.

const settings = { compatibility: { function_tools: true } }
const user = { role: 'user', content: 'How high is it?' }
const texts = ['4 m', '5 m', '6 m']
const called = { name: 'read_level', arguments: '{}' }
const ids = ['call_0', 'call_0', 'call_1']

const requests: readonly (readonly [string, Fields])[] = [
  [
    '/v1/chat/completions',
    {
      messages: ids.flatMap((id, index) => [
        user,
        { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] },
        { role: 'tool', tool_call_id: id, content: texts[index] },
      ]),
    },
  ],
  [
    '/v1/messages',
    {
      max_tokens: 100,
      messages: ids.flatMap((id, index) => [
        ...(index === 0 ? [user] : []),
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read_level', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: texts[index] }] },
      ]),
    },
  ],
  [
    '/v1/responses',
    {
      input: ids.flatMap((id, index) => [
        user,
        { type: 'function_call', call_id: id, ...called },
        { type: 'function_call_output', call_id: id, output: texts[index] },
      ]),
    },
  ],
]

/** The ids of calls, and those of results with their texts, in their order. */
type Sent = { readonly calls: readonly unknown[]; readonly results: readonly unknown[] }

const blocksIn = ({ messages }: Fields) =>
  listOf(messages).flatMap((message) => listOf(fieldsOf(message).content).filter(isObject))

const providers: readonly (readonly [string, ScenarioOptions['acme'], (body: Fields) => Sent])[] = [
  [
    'anthropic',
    { kind: 'anthropic' },
    (body) => ({
      calls: blocksIn(body).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])),
      results: blocksIn(body).flatMap(({ type, tool_use_id, content }) =>
        type === 'tool_result' ? [[tool_use_id, content]] : [],
      ),
    }),
  ],
  [
    'responses',
    { kind: 'openai', api: 'responses' },
    ({ input }) => {
      const items = listOf(input).map(fieldsOf)
      return {
        calls: items.flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : [])),
        results: items.flatMap(({ type, call_id, output }) =>
          type === 'function_call_output' ? [[call_id, output]] : [],
        ),
      }
    },
  ],
]

/** Each of these requests to each provider. */
function ways(sent: typeof requests) {
  return sent.flatMap(([path, body]) =>
    providers.map((provider) => [path, provider[0], body, provider[1], provider[2]] as const),
  )
}

test.each(ways(requests))(
  'calls that are numbered alike in %s have ids of their own at %s',
  async (path, name, body, acme, sentIn) => {
    await using scenario = await startScenario(fixtureReply(name, 'text', false), { acme, settings })
    const { model } = chatRequest
    const response = await scenario.app.request(path, { body: { model, ...body } })
    expect(response.status).toBe(200)
    const { calls, results } = sentIn((await scenario.acme.request(0)).body)
    expect(calls).toEqual(['call_0', 'call_0__2', 'call_1'])
    expect(results).toEqual(calls.map((id, index) => [id, texts[index]]))
  },
)

test('a provider of chat completions gets the ids as the client sent them', async () => {
  await using scenario = await startScenario(jsonReply())
  const [path, body] = requests[0] ?? []
  await scenario.app.request(String(path), { body: { model: chatRequest.model, ...body } })
  const messages = listOf((await scenario.acme.request(0)).body.messages).map(fieldsOf)
  const callIds = messages.flatMap(({ tool_calls }) => listOf(tool_calls).map((call) => fieldsOf(call).id))
  expect(callIds).toEqual(ids)
  expect(messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(ids)
})

describe('calls of one turn that have the same id', () => {
  const turn = ['call_0__2', 'call_0', 'call_0']
  const turns: readonly (readonly [string, Fields])[] = [
    [
      '/v1/chat/completions',
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: turn.map((id) => ({ id, type: 'function', function: called })),
          },
          ...turn.map((id, index) => ({ role: 'tool', tool_call_id: id, content: texts[index] })),
        ],
      },
    ],
    [
      '/v1/messages',
      {
        max_tokens: 100,
        messages: [
          user,
          {
            role: 'assistant',
            content: turn.map((id) => ({ type: 'tool_use', id, name: 'read_level', input: {} })),
          },
          {
            role: 'user',
            content: turn.map((id, index) => {
              return { type: 'tool_result', tool_use_id: id, content: texts[index] }
            }),
          },
        ],
      },
    ],
  ]

  test.each(ways(turns))('get their own results from %s at %s', async (path, name, body, acme, sentIn) => {
    await using scenario = await startScenario(fixtureReply(name, 'text', false), { acme, settings })
    const { model } = chatRequest
    const response = await scenario.app.request(path, { body: { model, ...body } })
    expect(response.status).toBe(200)
    const { calls, results } = sentIn((await scenario.acme.request(0)).body)
    expect(calls).toEqual(['call_0__2', 'call_0', 'call_0__3'])
    expect(results).toEqual(calls.map((id, index) => [id, texts[index]]))
  })
})

import { describe, expect, test } from 'bun:test'
import { fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { chatOutput, type ChatOutputCall, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import {
  createResponse,
  postResponse,
  replayResponse,
  retrieveResponse,
  streamResponse,
} from '../../support/responses.ts'
import { type ScenarioOptions, startScenario } from '../../support/scenario.ts'

const measure = {
  type: 'function',
  name: 'measure',
  parameters: { type: 'object', properties: { river: { type: 'string' } } },
  strict: false,
}
const shell = { type: 'custom', name: 'shell', description: 'Runs a command.' }
const maps = { type: 'namespace', name: 'maps', tools: [{ type: 'function', name: 'find', parameters: {} }] }
const tools = [measure, shell, maps]

const options: ScenarioOptions = { settings: { compatibility: { function_tools: true } } }

const calling = (...calls: ChatOutputCall[]) => chatOutput({ text: undefined, calls, finish: 'tool_calls' })
const elbe = { id: 'call_a', name: 'measure', arguments: ['{"riv', 'er":"Elbe"}'] }
const ls = { id: 'call_b', name: 'shell', arguments: ['{"input":', '"ls"}'] }
const place = { id: 'call_c', name: 'maps__find', arguments: ['{}'] }
const allCalls = calling(elbe, ls, place)

const expectedItems = [
  {
    type: 'function_call',
    status: 'completed',
    call_id: 'call_a',
    name: 'measure',
    arguments: '{"river":"Elbe"}',
  },
  { type: 'custom_tool_call', status: 'completed', call_id: 'call_b', name: 'shell', input: 'ls' },
  {
    type: 'function_call',
    status: 'completed',
    call_id: 'call_c',
    name: 'find',
    namespace: 'maps',
    arguments: '{}',
  },
]

test('a response with tools sends them to the provider and returns its calls as items', async () => {
  await using scenario = await startScenario(jsonReply(allCalls), options)
  const response = await createResponse(scenario.app, {
    tools,
    tool_choice: 'required',
    parallel_tool_calls: true,
  })
  expect(response.output).toMatchObject(expectedItems)
  expect(response.status).toBe('completed')
  expect(response.tools).toEqual(tools)
  const { body } = await scenario.acme.request(0)
  expect(listOf(body.tools).map((tool) => fieldsOf(fieldsOf(tool).function).name)).toEqual([
    'measure',
    'shell',
    'maps__find',
  ])
  expect(body).toMatchObject({ tool_choice: 'required', parallel_tool_calls: true })
  expect(await retrieveResponse(scenario.app, response.id)).toEqual(response)
})

test('the events of a stream with calls come in the order of the API, and are replayed as they were', async () => {
  await using scenario = await startScenario(streamReply(allCalls), options)
  const { types, events, last } = await streamResponse(scenario.app, { tools })
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ])
  expect(events[2]).toMatchObject({
    output_index: 0,
    item: { status: 'in_progress', arguments: '', call_id: 'call_a' },
  })
  expect(events[5]).toMatchObject({ name: 'measure', arguments: '{"river":"Elbe"}' })
  expect(events[9]).toMatchObject({ input: 'ls' })
  expect(last?.output).toMatchObject(expectedItems)
  const replayed = await replayResponse(scenario.app, last?.id ?? '')
  expect(replayed.events).toEqual(events)
  const rest = await replayResponse(scenario.app, last?.id ?? '', 'starting_after=4')
  expect(rest.events).toEqual(events.slice(5))
})

test('the outputs of the calls continue a stored response', async () => {
  await using scenario = await startScenario([jsonReply(allCalls), jsonReply(chatOutput())], options)
  const first = await createResponse(scenario.app, { tools })
  const input = [
    { type: 'function_call_output', call_id: 'call_a', output: '4 m' },
    { type: 'custom_tool_call_output', call_id: 'call_b', output: 'README' },
    { type: 'function_call_output', call_id: 'call_c', output: [{ type: 'input_text', text: 'Dresden' }] },
  ]
  const second = await createResponse(scenario.app, { tools, previous_response_id: first.id, input })
  expect(second.output).toMatchObject([{ type: 'message' }])
  const { body } = await scenario.acme.request(1)
  expect(listOf(body.messages)).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      tool_calls: [
        { id: 'call_a', function: { name: 'measure', arguments: '{"river":"Elbe"}' } },
        { id: 'call_b', function: { name: 'shell', arguments: '{"input":"ls"}' } },
        { id: 'call_c', function: { name: 'maps__find', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_a', content: '4 m' },
    { role: 'tool', tool_call_id: 'call_b', content: 'README' },
    { role: 'tool', tool_call_id: 'call_c', content: 'Dresden' },
  ])
})

test('a background run with tools ends with its calls', async () => {
  await using scenario = await startScenario(streamReply(allCalls), options)
  const { id } = await queueRun(scenario.app, { tools })
  const ended = await waitForRun(scenario.app, id)
  expect(ended.status).toBe('completed')
  expect(ended.output).toMatchObject(expectedItems)
})

test('a call that the token limit cuts off is an incomplete item of an incomplete response', async () => {
  const cut = chatOutput({ text: undefined, calls: [{ ...elbe, arguments: ['{"riv'] }], finish: 'length' })
  await using scenario = await startScenario(streamReply(cut), options)
  const { last, types } = await streamResponse(scenario.app, { tools })
  expect(last).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  expect(last?.output).toMatchObject([{ type: 'function_call', status: 'incomplete', arguments: '{"riv' }])
  expect(types).not.toContain('response.function_call_arguments.done')
})

describe('a request with tools is rejected', () => {
  test('while function_tools is disabled, before any provider is called', async () => {
    await using scenario = await startScenario(jsonReply())
    const reply = await postResponse(scenario.app, { tools: [measure] })
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param: 'tools' } }])
    expect(scenario.acme.requests).toHaveLength(0)
  })

  test('by the name of a hosted tool, unless unsupported parameters are dropped', async () => {
    await using scenario = await startScenario(jsonReply(), options)
    const reply = await postResponse(scenario.app, { tools: [measure, { type: 'web_search' }] })
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { param: 'tools[1].type', message: expect.stringContaining('web_search') } },
    ])
    await using lenient = await startScenario(jsonReply(), {
      settings: { ...options.settings, unsupported_parameters: 'drop' },
    })
    const response = await createResponse(lenient.app, { tools: [measure, { type: 'web_search' }] })
    expect(response.warnings).toEqual(['Tool `web_search` is not supported and was ignored.'])
  })

  test('for an output without its call, with its call_id', async () => {
    await using scenario = await startScenario(jsonReply(), options)
    const input = [{ type: 'function_call_output', call_id: 'call_9', output: 'x' }]
    const reply = await postResponse(scenario.app, { input })
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { param: 'input[0].call_id', message: expect.stringContaining('call_9') } },
    ])
  })
})

test('the token count of a request grows with its tools, and calls no provider', async () => {
  await using scenario = await startScenario(jsonReply(), options)
  const count = async (body: object) => {
    const reply = await scenario.app.request('/v1/responses/input_tokens', {
      method: 'POST',
      body: { model: 'acme/river', input: 'How high is it?', ...body },
    })
    const counted = fieldsOf(await reply.json())
    expect([reply.status, counted.object]).toEqual([200, 'response.input_tokens'])
    return Number(counted.input_tokens)
  }
  const plain = await count({})
  expect(plain).toBeGreaterThan(2)
  expect(await count({ tools: [measure] })).toBeGreaterThan(plain)
  expect(scenario.acme.requests).toHaveLength(0)
})

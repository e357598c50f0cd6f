import { expect, test } from 'bun:test'
import { fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { chatOutput, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import type { ReceivedRequest } from '../../support/received-request.ts'
import { createResponse, postResponse, retrieveResponse, streamResponse } from '../../support/responses.ts'
import { type ScenarioOptions, startScenario } from '../../support/scenario.ts'

const options: ScenarioOptions = { settings: { compatibility: { function_tools: true } } }

/** Codex sends its tools so to the models that it knows. */
const codexTools = {
  type: 'additional_tools',
  id: 'at_1',
  role: 'developer',
  tools: [
    { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec', description: 'Runs.' }] },
    { type: 'function', name: 'wait', parameters: { type: 'object' }, strict: false },
  ],
}
const question = { type: 'message', role: 'user', content: 'How high is it?' }
const input = [codexTools, question]

const calls = [{ id: 'call_a', name: 'functions__exec', arguments: ['{"input":', '"ls"}'] }]
const calling = chatOutput({ text: undefined, calls, finish: 'tool_calls' })
const called = [
  { type: 'custom_tool_call', call_id: 'call_a', name: 'exec', namespace: 'functions', input: 'ls' },
]

const toolNames = ({ body }: ReceivedRequest) =>
  listOf(body.tools).map((tool) => fieldsOf(fieldsOf(tool).function).name)

test('the tools of an item reach the model, whose calls have their names', async () => {
  await using scenario = await startScenario(streamReply(calling), options)
  const { last } = await streamResponse(scenario.app, { input })
  expect(last?.output).toMatchObject(called)
  expect([last?.tools, last?.warnings]).toEqual([[], undefined])
  const received = await scenario.acme.request(0)
  expect(toolNames(received)).toEqual(['functions__exec', 'wait'])
  expect(received.body.messages).toEqual([{ role: 'user', content: 'How high is it?' }])
})

test('the tools of an item are those of the responses that follow, too', async () => {
  await using scenario = await startScenario([jsonReply(calling), jsonReply(calling)], options)
  const first = await createResponse(scenario.app, { input })
  const output = { type: 'custom_tool_call_output', call_id: 'call_a', output: 'README' }
  const second = await createResponse(scenario.app, { previous_response_id: first.id, input: [output] })
  expect(second.output).toMatchObject(called)
  expect(await retrieveResponse(scenario.app, second.id)).toEqual(second)
  expect(toolNames(await scenario.acme.request(1))).toEqual(['functions__exec', 'wait'])
})

test('a background run has the tools of its items', async () => {
  await using scenario = await startScenario(streamReply(calling), options)
  const { id } = await queueRun(scenario.app, { input })
  expect((await waitForRun(scenario.app, id)).output).toMatchObject(called)
})

test('a tool of an item replaces an earlier one of its name, and is one that can be chosen', async () => {
  await using scenario = await startScenario(jsonReply(), options)
  const tools = [{ type: 'function', name: 'wait', description: 'Old.', parameters: {} }]
  const newer = { ...codexTools, tools: [{ type: 'function', name: 'wait', description: 'New.' }] }
  const choice = { type: 'function', name: 'wait' }
  await createResponse(scenario.app, { tools, tool_choice: choice, input: [codexTools, newer, question] })
  const received = await scenario.acme.request(0)
  expect(toolNames(received)).toEqual(['wait', 'functions__exec'])
  expect(received.body).toMatchObject({
    tools: [{ function: { description: 'New.' } }, {}],
    tool_choice: { function: { name: 'wait' } },
  })
})

test.each([
  ['while function_tools is disabled', {}, codexTools.tools, 'input[0].tools'],
  ['of a type that is not supported', options, [{ type: 'web_search' }], 'input[0].tools[0].type'],
  ['without a name', options, [{ type: 'function' }], 'input[0].tools[0].name'],
])('a tool of an item is rejected %s', async (_, scenarioOptions, tools, param) => {
  await using scenario = await startScenario(jsonReply(), scenarioOptions)
  const reply = await postResponse(scenario.app, { input: [{ ...codexTools, tools }, question] })
  expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }])
  expect(scenario.acme.requests).toEqual([])
})

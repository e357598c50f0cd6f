import { expect, test } from 'bun:test'
import { fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { anthropicReply, fixtureReply } from '../../support/messages.ts'
import { createResponse, postResponse } from '../../support/responses.ts'
import { type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { json, type Script } from '../../support/script.ts'

// Strands Agents sends `previous_response_id` together with all items of the turn, again and again.

const settings = { compatibility: { function_tools: true } }
const tools = [{ type: 'function', name: 'read_level', parameters: { type: 'object' } }]
const user = { role: 'user', content: 'How high is it?' }
const call = (id: string, args = '{}') => {
  return { type: 'function_call', call_id: id, name: 'read_level', arguments: args }
}
const output = (id: string, text = '4 m') => ({ type: 'function_call_output', call_id: id, output: text })
const calling = (...ids: readonly string[]) => {
  const calls = ids.map((id) => ({ id, name: 'read_level', arguments: ['{}'] }))
  return jsonReply(chatOutput({ text: undefined, calls, finish: 'tool_calls' }))
}
const unpaired = 'Function calls without an output, and outputs without a function call, were ignored.'

/** Sends these inputs one after the other, each with the response before. Returns the last response. */
async function conversation({ app }: Scenario, inputs: readonly (readonly object[])[]) {
  let last = await createResponse(app, { tools, input: inputs[0] })
  for (const input of inputs.slice(1))
    last = await createResponse(app, { tools, input, previous_response_id: last.id })
  return last
}

/** What the provider got last: a letter for each call, result and message of the user or the model. */
async function outlineOf({ acme }: Scenario): Promise<readonly string[]> {
  const { body } = await acme.request(acme.requests.length - 1)
  return listOf(body.messages)
    .map(fieldsOf)
    .map(({ role, tool_call_id, tool_calls, content }) => {
      const ids = listOf(tool_calls).map((each) => fieldsOf(each).id)
      return [role, ...ids, ...(role === 'tool' ? [tool_call_id, content] : [])].join(' ')
    })
}

test('a call of the response before that comes again with its output is sent once, directly before the output', async () => {
  await using scenario = await startScenario([calling('call_a'), jsonReply()], { settings })
  const { warnings } = await conversation(scenario, [[user], [user, call('call_a'), output('call_a')]])
  expect(await outlineOf(scenario)).toEqual(['user', 'user', 'assistant call_a', 'tool call_a 4 m'])
  expect(warnings).toEqual([unpaired])
})

test('a call and an output that come again with each request of a turn are sent once', async () => {
  const scripts = [calling('call_a'), calling('call_b'), calling('call_c'), jsonReply()]
  await using scenario = await startScenario(scripts, { settings })
  const first = [user, call('call_a'), output('call_a')]
  const second = [...first, call('call_b'), output('call_b', '5 m')]
  const third = [...second, call('call_c', '{ }'), output('call_c', '6 m')]
  await conversation(scenario, [[user], first, second, third])
  expect(await outlineOf(scenario)).toEqual([
    'user',
    'user',
    'assistant call_a',
    'tool call_a 4 m',
    'user',
    'assistant call_b',
    'tool call_b 5 m',
    'user',
    'assistant call_c',
    'tool call_c 6 m',
  ])
})

test('an output that comes again on its own is not sent again, and is no error', async () => {
  await using scenario = await startScenario([calling('call_a'), jsonReply(), jsonReply()], { settings })
  const { warnings } = await conversation(scenario, [[user], [output('call_a')], [output('call_a'), user]])
  expect(await outlineOf(scenario)).toEqual([
    'user',
    'assistant call_a',
    'tool call_a 4 m',
    'assistant',
    'user',
  ])
  expect(warnings).toBeUndefined()
})

test('items that come again with their ids are sent once', async () => {
  const scripts = [calling('call_a'), calling('call_b'), calling('call_c'), jsonReply()]
  await using scenario = await startScenario(scripts, { settings })
  const history: object[] = [user]
  let last = await createResponse(scenario.app, { tools, input: history })
  for (const id of ['call_a', 'call_b', 'call_c']) {
    history.push(...last.output, output(id))
    last = await createResponse(scenario.app, { tools, input: history, previous_response_id: last.id })
  }
  const sent = (await outlineOf(scenario)).filter((line) => line !== 'user')
  const pairs = ['a', 'b', 'c'].flatMap((id) => [`assistant call_${id}`, `tool call_${id} 4 m`])
  expect(sent).toEqual(pairs)
})

test('a call of the client’s own is sent with each request that has it', async () => {
  await using scenario = await startScenario([jsonReply(), jsonReply(), jsonReply()], { settings })
  const stateOf = (gate: string) => [call('gate'), output('gate', gate), user]
  await conversation(scenario, [stateOf('open'), stateOf('closed'), stateOf('open')])
  const sent = (await outlineOf(scenario)).filter((line) => line.startsWith('tool'))
  expect(sent).toEqual(['tool gate open', 'tool gate closed', 'tool gate open'])
})

test('parallel calls that come again are one turn, each once', async () => {
  await using scenario = await startScenario([calling('call_a', 'call_b'), jsonReply()], { settings })
  const results = [output('call_a'), output('call_b', '5 m')]
  await conversation(scenario, [[user], [user, call('call_a'), call('call_b'), ...results]])
  expect(await outlineOf(scenario)).toEqual([
    'user',
    'user',
    'assistant call_a call_b',
    'tool call_a 4 m',
    'tool call_b 5 m',
  ])
})

test.each([
  ['other outputs', '5 m'],
  ['the same outputs', '4 m'],
])('calls of two turns that an engine numbers alike are both sent, with %s', async (_, second) => {
  const scripts = [calling('call_0'), jsonReply(), calling('call_0'), jsonReply()]
  await using scenario = await startScenario(scripts, { settings })
  const turn = (text: string) => [user, call('call_0'), output('call_0', text)]
  await conversation(scenario, [[user], turn('4 m'), [user], turn(second)])
  expect(await outlineOf(scenario)).toEqual([
    'user',
    'user',
    'assistant call_0',
    'tool call_0 4 m',
    'assistant',
    'user',
    'user',
    'assistant call_0',
    `tool call_0 ${second}`,
  ])
})

test('a call that comes again and again with the same result is sent as often as the model made it', async () => {
  const scripts = [calling('call_0'), calling('call_0'), calling('call_0'), jsonReply()]
  await using scenario = await startScenario(scripts, { settings })
  const wait = [call('call_0'), output('call_0', 'wait')]
  await conversation(scenario, [[user], wait, [...wait, ...wait], [...wait, ...wait, ...wait]])
  const sent = ['assistant call_0', 'tool call_0 wait']
  expect(await outlineOf(scenario)).toEqual(['user', ...sent, ...sent, ...sent])
})

test('outputs alone answer the calls of their turn, however alike these are', async () => {
  const scripts = [calling('call_0'), calling('call_0'), calling('call_0'), jsonReply()]
  await using scenario = await startScenario(scripts, { settings })
  const wait = [output('call_0', 'wait')]
  const { warnings } = await conversation(scenario, [[user], wait, wait, wait])
  const sent = ['assistant call_0', 'tool call_0 wait']
  expect(await outlineOf(scenario)).toEqual(['user', ...sent, ...sent, ...sent])
  expect(warnings).toBeUndefined()
})

test('calls alike that a client sends within one request are all sent, also with the next request', async () => {
  await using scenario = await startScenario([jsonReply(), jsonReply()], { settings })
  const turn = [user, call('call_0'), output('call_0')]
  await conversation(scenario, [[...turn, ...turn, user], [user]])
  const sent = ['user', 'assistant call_0', 'tool call_0 4 m']
  expect(await outlineOf(scenario)).toEqual([...sent, ...sent, 'user', 'assistant', 'user'])
})

test('calls of one turn that an engine numbers alike are told apart by their arguments', async () => {
  const level = (river: string) => {
    const calls = [{ id: 'call_0', name: 'read_level', arguments: [river] }]
    return jsonReply(chatOutput({ text: undefined, calls, finish: 'tool_calls' }))
  }
  const scripts = [level('{"of":"Elbe"}'), level('{"of":"Oder"}'), jsonReply()]
  await using scenario = await startScenario(scripts, { settings })
  const first = [call('call_0', '{"of":"Elbe"}'), output('call_0')]
  const second = [call('call_0', '{"of":"Oder"}'), output('call_0', '5 m')]
  await conversation(scenario, [[user], first, [...first, ...second]])
  expect(await outlineOf(scenario)).toEqual([
    'user',
    'assistant call_0',
    'tool call_0 4 m',
    'assistant call_0',
    'tool call_0 5 m',
  ])
})

const anthropic: Script = anthropicReply([
  { type: 'tool_use', id: 'call_gate0001', name: 'read_level', input: {} },
])
const reasoned = json({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAB' },
    { ...call('call_gate0001'), id: 'fc_1', status: 'completed' },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})
const ways: readonly [string, ScenarioOptions['acme'], Script, string][] = [
  ['Anthropic', { kind: 'anthropic' }, anthropic, 'anthropic'],
  ['the Responses API', { kind: 'openai', api: 'responses' }, reasoned, 'responses'],
]

test.each(ways)('%s gets a call that comes again, and its reasoning, once', async (_, acme, first, name) => {
  const scripts = [first, fixtureReply(name, 'text', false)]
  await using scenario = await startScenario(scripts, { acme, settings })
  const include = ['reasoning.encrypted_content']
  const { id, output: items } = await createResponse(scenario.app, { tools, include, input: [user] })
  const input = [...items, output('call_gate0001')]
  const response = await postResponse(scenario.app, { tools, input, previous_response_id: id })
  expect(response.status).toBe(200)
  const sent = JSON.stringify((await scenario.acme.request(1)).body)
  const count = (text: string) => sent.split(text).length - 1
  expect(count('"call_gate0001"')).toBe(2)
  expect(count('"gAAAAB"')).toBe(name === 'responses' ? 1 : 0)
})

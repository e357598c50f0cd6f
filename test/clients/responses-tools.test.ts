import { createOpenAI } from '@ai-sdk/openai'
import { Agent, Runner, tool as agentTool } from '@openai/agents-core'
import { OpenAIProvider } from '@openai/agents-openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool } from 'ai'
import { describe, expect, test } from 'bun:test'
import { fieldsOf, listOf } from '../../src/lib/json/json.ts'
import { chatOutput, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import type { ScenarioOptions } from '../support/scenario.ts'
import { startOpenaiScenario } from './support/openai-client.ts'

const options: ScenarioOptions = { settings: { compatibility: { function_tools: true } } }
const schema = {
  type: 'object' as const,
  properties: { river: { type: 'string' as const } },
  required: ['river'],
  additionalProperties: false as const,
}
const calls = [{ id: 'call_a', name: 'measure', arguments: ['{"river"', ':"Elbe"}'] }]
const asking = chatOutput({ text: undefined, calls, finish: 'tool_calls' })
const text = 'It is four metres.'

/** The messages that the provider received for the second turn. */
function secondTurn(requests: readonly { readonly body: object }[]): unknown[] {
  return listOf(fieldsOf(requests[1]?.body).messages)
    .slice(-2)
    .map((message) => {
      const { role, content, tool_call_id, tool_calls } = fieldsOf(message)
      const names = listOf(tool_calls).map((call) => fieldsOf(fieldsOf(call).function).name)
      return [role, role === 'tool' ? [tool_call_id, content] : names]
    })
}

const expectedTurn = [
  ['assistant', ['measure']],
  ['tool', ['call_a', '4 m']],
]

describe('the OpenAI client has a conversation with a tool through the Responses API', () => {
  const tools = [{ type: 'function' as const, name: 'measure', parameters: schema, strict: true }]
  const output = { type: 'function_call_output' as const, call_id: 'call_a', output: '4 m' }

  test('stored by the gateway', async () => {
    await using scenario = await startOpenaiScenario([jsonReply(asking), jsonReply()], options)
    const { responses } = scenario.openai
    const first = await responses.create({ model: 'acme/river', input: 'How high is it?', tools })
    expect(first.output).toMatchObject([{ type: 'function_call', name: 'measure', call_id: 'call_a' }])
    const second = await responses.create({
      model: 'acme/river',
      previous_response_id: first.id,
      input: [output],
      tools,
    })
    expect(second.output_text).toBe(text)
    expect(secondTurn(scenario.acme.requests)).toEqual(expectedTurn)
  })

  test('stored by itself, with its stream helper', async () => {
    await using scenario = await startOpenaiScenario([streamReply(asking), streamReply()], options)
    const { responses } = scenario.openai
    const question = { role: 'user' as const, content: 'How high is it?' }
    const request = { model: 'acme/river', tools, store: false }
    const seen: string[] = []
    const stream = responses.stream({ ...request, input: [question] })
    stream.on('response.function_call_arguments.delta', ({ delta }) => void seen.push(delta))
    const first = await stream.finalResponse()
    expect(seen).toEqual(['{"river"', ':"Elbe"}'])
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error(`The first item is a ${call?.type}.`)
    expect(call.parsed_arguments).toEqual({ river: 'Elbe' })
    const { parsed_arguments: _, ...item } = call
    const second = await responses.stream({ ...request, input: [question, item, output] }).finalResponse()
    expect(second.output_text).toBe(text)
    expect(secondTurn(scenario.acme.requests)).toEqual(expectedTurn)
  })

  test('and counts the tokens of its input', async () => {
    await using scenario = await startOpenaiScenario(jsonReply(), options)
    const counted = await scenario.openai.responses.inputTokens.count({
      model: 'acme/river',
      input: 'Hello',
      tools,
    })
    expect(counted.object).toBe('response.input_tokens')
    expect(counted.input_tokens).toBeGreaterThan(0)
  })
})

describe('the Agents SDK runs a tool on its default API', () => {
  const measure = agentTool({
    name: 'measure',
    description: 'Measures a river.',
    parameters: schema,
    strict: true,
    execute: () => '4 m',
  })

  test.each([
    ['complete', false],
    ['streamed', true],
  ])('%s', async (_, stream) => {
    const reply = stream ? streamReply : jsonReply
    await using scenario = await startOpenaiScenario([reply(asking), reply(chatOutput())], options)
    const modelProvider = new OpenAIProvider({ openAIClient: scenario.openai })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    const agent = new Agent({ name: 'gauge', model: 'acme/river', tools: [measure] })
    if (stream) {
      const result = await runner.run(agent, 'How high is it?', { stream: true })
      await result.completed
      expect(result.finalOutput).toBe(text)
    } else {
      const result = await runner.run(agent, 'How high is it?')
      expect(result.finalOutput).toBe(text)
    }
    expect(secondTurn(scenario.acme.requests)).toEqual(expectedTurn)
  })
})

describe('the AI SDK runs a tool on its default API', () => {
  const tools = {
    measure: aiTool({
      description: 'Measures a river.',
      inputSchema: jsonSchema<{ river: string }>(schema),
      execute: () => '4 m',
    }),
  }
  const prompt = 'How high is it?'
  const stopWhen = stepCountIs(3)

  test('complete', async () => {
    await using scenario = await startOpenaiScenario([jsonReply(asking), jsonReply()], options)
    const openai = createOpenAI({ baseURL: `${scenario.app.url}/v1`, apiKey: scenario.app.key })
    const result = await generateText({ model: openai('acme/river'), prompt, tools, stopWhen })
    expect(result.text).toBe(text)
    expect(secondTurn(scenario.acme.requests)).toEqual(expectedTurn)
  })

  test('streamed', async () => {
    await using scenario = await startOpenaiScenario([streamReply(asking), streamReply()], options)
    const openai = createOpenAI({ baseURL: `${scenario.app.url}/v1`, apiKey: scenario.app.key })
    const result = streamText({ model: openai('acme/river'), prompt, tools, stopWhen })
    expect(await result.text).toBe(text)
    expect(secondTurn(scenario.acme.requests)).toEqual(expectedTurn)
  })
})

import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { expect, test } from 'bun:test'
import { chatOutput, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'
import type { Script } from '../support/script.ts'

const text = 'It is four metres.'

async function startWithModel(...scripts: readonly Script[]) {
  const scenario = await startScenario(scripts)
  const { url, key } = scenario.app
  const model = new ChatAnthropic({
    model: 'acme/river',
    maxTokens: 100,
    maxRetries: 0,
    apiKey: key,
    anthropicApiUrl: url,
  })
  return { ...scenario, model }
}

test('LangChain receives a message and its usage', async () => {
  await using scenario = await startWithModel(jsonReply())
  const message = await scenario.model.invoke('How high is it?')
  expect(message.text).toBe(text)
  expect(message.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 5 })
})

test('LangChain receives a message piece by piece', async () => {
  await using scenario = await startWithModel(streamReply())
  const pieces: string[] = []
  for await (const piece of await scenario.model.stream('How high is it?')) pieces.push(piece.text)
  expect(pieces.join('')).toBe(text)
})

test('LangChain calls a tool and sends its result back', async () => {
  const calls = [{ id: 'call_a', name: 'measure', arguments: ['{"river":"Elbe"}'] }]
  const calling = jsonReply(chatOutput({ text: undefined, calls, finish: 'tool_calls' }))
  await using scenario = await startWithModel(calling, jsonReply())
  const schema = { type: 'object' as const, properties: { river: { type: 'string' } } }
  const model = scenario.model.bindTools([
    { name: 'measure', description: 'Measures.', input_schema: schema },
  ])
  const question = new HumanMessage('How high is it?')
  const first = await model.invoke([question])
  expect(first.tool_calls).toMatchObject([{ id: 'call_a', name: 'measure', args: { river: 'Elbe' } }])
  const result = new ToolMessage({ content: '4.0', tool_call_id: 'call_a' })
  expect((await model.invoke([question, first, result])).text).toBe(text)
  expect<unknown>(scenario.acme.requests[1]?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_a' }] },
    { role: 'tool', tool_call_id: 'call_a', content: '4.0' },
  ])
})

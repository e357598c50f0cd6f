import { describe, expect, test } from 'bun:test'
import { fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { startApp } from '../../support/app.ts'
import {
  fixtureReply,
  foldEvents,
  messageRequest,
  readEvents,
  readMessage,
  sendMessage,
} from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { dataUrl, png, tool, toolLoop } from '../support/message-loop.ts'

describe('a message of Gemini', () => {
  test('receives a tool loop with the images of its results', async () => {
    const options = { provider: { kind: 'gemini' } }
    await using scenario = await startScenario(fixtureReply('gemini', 'text', false), options)
    const message = await readMessage(await sendMessage(scenario.app, toolLoop))
    expect(message.content.map(({ type }) => type)).toEqual(['text'])
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
    expect<unknown>(scenario.acme.requests[0]?.body.contents).toMatchObject([
      { role: 'user', parts: [{ text: 'How high?' }, { inlineData }] },
      {
        role: 'model',
        parts: [{ text: 'I look.' }, { functionCall: { name: 'measure', args: { at: 'dam' } } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'measure', response: { output: 'See.' } } },
          { inlineData },
          { text: 'And now?' },
        ],
      },
    ])
  })

  test.each([false, true])('has its parallel tool calls, streamed: %p', async (stream) => {
    const options = { provider: { kind: 'gemini' } }
    await using scenario = await startScenario(fixtureReply('gemini', 'parallel-tools', stream), options)
    const reply = await sendMessage(scenario.app, { ...messageRequest, stream, tools: [tool] })
    const message = stream ? foldEvents(await readEvents(reply)) : await readMessage(reply)
    const calls = message.content.filter(({ type }) => type === 'tool_use')
    expect(calls.length).toBeGreaterThan(1)
    expect(message.stop_reason).toBe('tool_use')
  })
})

describe('a message of the Responses API', () => {
  const routes = [{ provider: 'acme', model: 'gpt-5', api: 'responses' as const }]
  const options = { provider: { kind: 'openai' }, model: { routes } }
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'ENC',
  }
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_Zk3v9Qp1',
    name: 'measure',
    arguments: '{"at":"dam"}',
  }
  const reply = json({
    object: 'response',
    status: 'completed',
    output: [reasoning, call],
    usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
  })

  test('takes the reasoning of a tool loop back from the client, also in another process', async () => {
    const body = { ...messageRequest, tools: [tool] }
    await using first = await startScenario(reply, options)
    const message = await readMessage(await sendMessage(first.app, body))
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const turn = { role: 'assistant', content: message.content }
    const result = {
      type: 'tool_result',
      tool_use_id: 'call_Zk3v9Qp1',
      content: [{ type: 'text', text: '4 m' }, png],
    }
    const messages = [...body.messages, turn, { role: 'user', content: [result] }]
    await using second = await startScenario(reply, options)
    await readMessage(await sendMessage(second.app, { ...body, messages }))
    const input = listOf(second.acme.requests[0]?.body.input).map(fieldsOf)
    expect(input.map(({ type, role }) => type ?? role)).toEqual([
      'user',
      'reasoning',
      'function_call',
      'function_call_output',
    ])
    expect(input[1]?.encrypted_content).toBe('ENC')
    expect<unknown>(input[3]?.output).toEqual([
      { type: 'input_text', text: '4 m' },
      { type: 'input_image', image_url: dataUrl, detail: 'auto' },
    ])
  })
})

test('a message goes from Anthropic to a provider of another protocol when Anthropic fails', async () => {
  const failure = json(
    { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } },
    { status: 529 },
  )
  const options = { acme: { kind: 'anthropic' }, other: [jsonReply()] }
  await using scenario = await startScenario(failure, options)
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
  const turn = { role: 'assistant', content: [thinking, { type: 'text', text: 'Four.' }] }
  const messages = [...messageRequest.messages, turn, { role: 'user', content: 'Sure?' }]
  const message = await readMessage(
    await sendMessage(scenario.app, { ...messageRequest, messages, top_k: 3 }),
  )
  expect(message.content).toEqual([{ type: 'text', text: 'It is four metres.' }])
  expect(message.warnings?.join()).toContain('`thinking`')
  expect<unknown>(scenario.acme.requests[0]?.body.messages).toEqual(messages)
  expect<unknown>(scenario.other.requests[0]?.body.messages).toEqual([
    { role: 'user', content: 'How high is it?' },
    { role: 'assistant', content: 'Four.' },
    { role: 'user', content: 'Sure?' },
  ])
})

test('the built-in model answers messages', async () => {
  await using app = await startApp()
  const message = await readMessage(await sendMessage(app, { ...messageRequest, model: 'weir/echo' }))
  expect(message.content).toEqual([{ type: 'text', text: 'How high is it?' }])
})

import { describe, expect, test } from 'bun:test'
import { listOf } from '../../../src/lib/json/json.ts'
import { chatOutput, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { foldEvents, messageRequest, readEvents, readMessage, sendMessage } from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'
import { dataUrl, tool, toolLoop } from '../support/message-loop.ts'

describe('a message of a chat completions provider', () => {
  test('receives a tool loop with the images of its results after them', async () => {
    await using scenario = await startScenario(jsonReply())
    const message = await readMessage(await sendMessage(scenario.app, toolLoop))
    expect(message.content).toEqual([{ type: 'text', text: 'It is four metres.' }])
    expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 5 })
    const [sent] = scenario.acme.requests
    const image = { type: 'image_url', image_url: { url: dataUrl } }
    const call = { id: 'toolu_a', type: 'function', function: { name: 'measure', arguments: '{"at":"dam"}' } }
    expect<unknown>(sent?.body.messages).toEqual([
      { role: 'system', content: 'Measure rivers.' },
      { role: 'user', content: [{ type: 'text', text: 'How high?' }, image] },
      { role: 'assistant', content: 'I look.', tool_calls: [call] },
      { role: 'tool', content: 'See.', tool_call_id: 'toolu_a' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attachments of the result of tool call toolu_a:' },
          image,
          { type: 'text', text: 'And now?' },
        ],
      },
    ])
    const { name, description, input_schema } = tool
    expect<unknown>(sent?.body.tools).toEqual([
      { type: 'function', function: { name, description, parameters: input_schema } },
    ])
  })

  const output = chatOutput({
    reasoning: ['A gauge ', 'would know.'],
    calls: [
      { id: 'call_a7Kp2mQ9', name: 'measure', arguments: ['{"at":', '"dam"}'] },
      { id: 'call_b7Kp2mQ9', name: 'measure', arguments: ['{}'] },
    ],
    finish: 'tool_calls',
  })

  test.each([
    ['complete', jsonReply, false],
    ['streamed', streamReply, true],
  ] as const)('has thinking, text and tool calls where it is %s', async (_, script, stream) => {
    await using scenario = await startScenario(script(output))
    const reply = await sendMessage(scenario.app, { ...messageRequest, stream, tools: [tool] })
    const message = stream ? foldEvents(await readEvents(reply)) : await readMessage(reply)
    expect<unknown>(message.content).toEqual([
      { type: 'thinking', thinking: 'A gauge would know.', signature: expect.stringMatching(/^weir1\./) },
      { type: 'text', text: 'It is four metres.' },
      { type: 'tool_use', id: 'call_a7Kp2mQ9', name: 'measure', input: { at: 'dam' } },
      { type: 'tool_use', id: 'call_b7Kp2mQ9', name: 'measure', input: {} },
    ])
    expect(message).toMatchObject({ stop_reason: 'tool_use', usage: { input_tokens: 12, output_tokens: 5 } })
    expect(message).not.toHaveProperty('warnings')
  })

  test.each([
    ['no text', { type: 'adaptive', display: 'omitted' }, ['thinking', 'text'], ''],
    ['no block', { type: 'disabled' }, ['text'], undefined],
  ])('has thinking with %s for %j', async (_, thinking, types, text) => {
    await using scenario = await startScenario(streamReply(chatOutput({ reasoning: ['Hm.'] })))
    const reply = await sendMessage(scenario.app, { ...messageRequest, stream: true, thinking })
    const message = foldEvents(await readEvents(reply))
    expect(message.content.map(({ type }) => type)).toEqual(types)
    expect<unknown>(message.content[0]?.thinking).toBe(text)
  })

  test('says what of the request was ignored', async () => {
    await using scenario = await startScenario([jsonReply(), streamReply()])
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
    const messages = [
      ...messageRequest.messages,
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Four.' }] },
      { role: 'user', content: 'Sure?' },
    ]
    const body = { ...messageRequest, messages }
    const { warnings } = await readMessage(await sendMessage(scenario.app, body))
    expect(warnings?.join()).toContain('`thinking`')
    const streamed = foldEvents(await readEvents(await sendMessage(scenario.app, { ...body, stream: true })))
    expect(streamed.warnings).toEqual(warnings ?? [])
    expect(JSON.stringify(scenario.acme.requests[0]?.body)).not.toContain('EqQB')
  })

  test('receives a long user id as a hash that providers accept', async () => {
    await using scenario = await startScenario(jsonReply())
    const user_id = JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's'.repeat(36) })
    await sendMessage(scenario.app, { ...messageRequest, metadata: { user_id } })
    expect(String(scenario.acme.requests[0]?.body.user)).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each([
    ['thinking', { thinking: { type: 'adaptive' } }],
    ['thinking', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['output_config.effort', { output_config: { effort: 'high' } }],
    ['output_config.effort', { thinking: null, output_config: { effort: 'low' } }],
  ])('is served although the model cannot think, with a warning about %s for %j', async (name, fields) => {
    await using scenario = await startScenario(jsonReply(), {
      model: { supported_parameters: ['max_tokens'] },
    })
    const { warnings } = await readMessage(await sendMessage(scenario.app, { ...messageRequest, ...fields }))
    expect(warnings?.join()).toContain(`\`${name}\` is not supported by acme/river`)
    expect(warnings).toHaveLength(1)
    expect(scenario.acme.requests[0]?.body).not.toHaveProperty('reasoning_effort')
  })

  test('cannot use the tools of Anthropic', async () => {
    const tools = [tool, { type: 'web_search_20250305', name: 'web_search' }]
    await using scenario = await startScenario(jsonReply())
    const reply = await sendMessage(scenario.app, { ...messageRequest, tools })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining("'web_search_20250305'") },
    })
    expect(scenario.acme.requests).toEqual([])
    await using dropping = await startScenario(jsonReply(), { settings: { unsupported_parameters: 'drop' } })
    const { warnings } = await readMessage(await sendMessage(dropping.app, { ...messageRequest, tools }))
    expect(warnings?.join()).toContain('web_search_20250305')
    expect(listOf(dropping.acme.requests[0]?.body.tools)).toHaveLength(1)
  })
})

test('a compaction of the context is ignored with a warning where the provider cannot do it', async () => {
  await using scenario = await startScenario(jsonReply())
  const context_management = { edits: [{ type: 'compact_20260112' }] }
  const message = await readMessage(
    await sendMessage(scenario.app, { ...messageRequest, context_management }),
  )
  expect(message.warnings).toEqual([
    'Parameter `context_management.edits` is not supported by acme/river and was ignored.',
  ])
  const others = { edits: [{ type: 'clear_thinking_20251015' }] }
  const plain = await sendMessage(scenario.app, { ...messageRequest, context_management: others })
  expect((await readMessage(plain)).warnings).toBeUndefined()
})

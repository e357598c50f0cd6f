import { expect, test } from 'bun:test'
import { chatRequest } from '../../support/scenario.ts'
import { anthropicReply, startAnthropicScenario } from '../../support/messages.ts'

test('a tool call that a caller repeats gets its state back once, so that no request grows beyond its body', async () => {
  const thinking = { type: 'thinking', thinking: 'It is high.', signature: 'EqQBsecret' }
  const toolUse = { type: 'tool_use', id: 'toolu_01A09q90qw90lq917835lq9', name: 'read', input: {} }
  const script = anthropicReply([thinking, toolUse], { stop_reason: 'tool_use' })
  await using scenario = await startAnthropicScenario(script, {
    model: { routes: [{ provider: 'acme', model: 'claude-opus-4-7' }] },
  })
  const tools = [{ type: 'function', function: { name: 'read' } }]
  const send = (messages: readonly object[]) =>
    scenario.app.request('/v1/chat/completions', { body: { ...chatRequest, tools, messages } })
  await (await send(chatRequest.messages)).json()
  const call = { id: toolUse.id, type: 'function', function: { name: 'read', arguments: '{}' } }
  const turn = [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content: '4' },
  ]
  const reply = await send([...chatRequest.messages, ...Array.from({ length: 50 }, () => turn).flat()])
  expect(reply.status).toBe(200)
  const sent = JSON.stringify(scenario.acme.requests[1]?.body)
  expect(sent.split(thinking.signature)).toHaveLength(2)
})

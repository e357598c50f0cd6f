import { expect, test } from 'bun:test'
import { plainGeneration } from './support/generations.ts'
import { render } from './support/anthropic-render.ts'

test('arguments of an earlier call that nest too deeply to be serialized are sent to Anthropic as text', () => {
  const text = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  const call = { id: 'call_1', name: 'read', arguments: text }
  const messages = [
    ...plainGeneration.messages,
    { role: 'assistant' as const, parts: [], toolCalls: [call] },
    { role: 'tool' as const, callId: call.id, parts: [] },
  ]
  const { body, warnings } = render({ messages }, 'claude-sonnet-4-5')
  expect(JSON.stringify(body)).toContain(JSON.stringify({ arguments: text }))
  expect(warnings).toEqual([expect.stringContaining('were wrapped')])
})

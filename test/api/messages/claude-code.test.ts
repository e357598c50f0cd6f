import { expect, test } from 'bun:test'
import { listOf } from '../../../src/lib/json/json.ts'
import { chatOutput, streamReply } from '../../support/chat-fixtures.ts'
import { foldEvents, readEvents } from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'

const betas =
  'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,advanced-tool-use-2025-11-20'
const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} }

/** A request as Claude Code writes it for a model that it does not know. */
const request = {
  model: 'claude-sonnet-4-5-20250929',
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: 'text', text: 'You are a coding agent.' },
    { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'List the files.' }] },
    { role: 'system', content: 'The date has changed.' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_a', name: 'Bash', input: { command: 'ls' } }],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_a',
          content: 'a.ts',
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  tools: ['Bash', 'Read', 'Search'].map((name, index) => ({
    name,
    description: `${name}.`,
    input_schema: schema,
    ...(index === 2 && { defer_loading: true }),
  })),
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'medium' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: 's' }) },
}

test('Claude Code works on a model of another provider, reached by an alias', async () => {
  const calls = [{ id: 'call_b7Kp2mQ9', name: 'Read', arguments: ['{"file', '_path":"a.ts"}'] }]
  const output = chatOutput({ reasoning: ['I read it.'], text: ['Reading.'], calls, finish: 'tool_calls' })
  const model = { aliases: ['claude-sonnet-4-5-20250929'], max_output_tokens: 8000 }
  await using scenario = await startScenario(streamReply(output), { model })
  const { app, acme } = scenario
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': betas }
  const reply = await app.request('/v1/messages?beta=true', { body: request, headers })
  const message = foldEvents(await readEvents(reply))
  expect<unknown>(message.content).toEqual([
    { type: 'thinking', thinking: '', signature: expect.stringMatching(/^weir1\./) },
    { type: 'text', text: 'Reading.' },
    { type: 'tool_use', id: 'call_b7Kp2mQ9', name: 'Read', input: { file_path: 'a.ts' } },
  ])
  expect(message).toMatchObject({ model: 'acme/river', stop_reason: 'tool_use' })
  const [sent] = acme.requests
  expect(sent?.headers.has('anthropic-beta')).toBe(false)
  expect(sent?.body).toMatchObject({ max_tokens: 8000, reasoning_effort: 'medium', stream: true })
  expect(sent?.body).not.toHaveProperty('context_management')
  expect(listOf(sent?.body.tools)).toHaveLength(3)
  expect<unknown>(sent?.body.messages).toEqual([
    {
      role: 'system',
      content: [
        { type: 'text', text: 'You are a coding agent.' },
        { type: 'text', text: 'Be brief.' },
      ],
    },
    { role: 'user', content: 'List the files.' },
    { role: 'system', content: 'The date has changed.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'toolu_a', type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } },
      ],
    },
    { role: 'tool', content: 'a.ts', tool_call_id: 'toolu_a' },
  ])
  expect(JSON.stringify(sent?.body)).not.toContain('cache_control')
})

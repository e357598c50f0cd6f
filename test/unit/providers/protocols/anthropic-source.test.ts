import { describe, expect, test } from 'bun:test'
import type { Generation } from '../../../../src/domain/generation/request.ts'
import { sealState } from '../../../../src/domain/generation/sealed-state.ts'
import { render, tool } from './support/anthropic-render.ts'

const question = { role: 'user', content: 'Hello' }

/** What is sent of this body, with these changes of the generation. */
function sent(body: object, changes: Partial<Generation> = {}) {
  const source = { protocol: 'anthropic' as const, body: { messages: [question], max_tokens: 10, ...body } }
  return render({ ...changes, source }, 'claude-sonnet-4-5')
}

describe('a Messages request is sent to Anthropic', () => {
  test('as it was written, with the model of the route', () => {
    const body = {
      model: 'alias',
      system: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
      mystery: 1,
    }
    expect(sent(body).body).toEqual({
      ...body,
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      messages: [question],
    })
    expect(sent(body).warnings).toEqual([])
  })

  test('with the limit of the generation', () => {
    expect(sent({ max_tokens: 500 }, { maxTokens: 50 }).body.max_tokens).toBe(50)
  })

  test('with no more than the model generates, where the gateway has removed the limit', () => {
    const body = { messages: [question], max_tokens: 500 }
    const source = { protocol: 'anthropic' as const, body }
    expect(render({ source }, 'claude-sonnet-4-5', { maxOutputTokens: 50 }).body.max_tokens).toBe(50)
    expect(render({ source }, 'claude-sonnet-4-5').body.max_tokens).toBe(500)
  })

  const format = { type: 'json_schema', schema: {} }
  test.each<readonly [string, object, Partial<Generation>, object]>([
    ['thinking', { thinking: { type: 'adaptive' } }, {}, {}],
    [
      'thinking of another type',
      { thinking: { type: 'between_tools' } },
      {},
      { thinking: { type: 'between_tools' } },
    ],
    ['thinking', { thinking: { type: 'adaptive' } }, { effort: 'high' }, { thinking: { type: 'adaptive' } }],
    ['effort', { output_config: { effort: 'low' } }, {}, {}],
    [
      'effort',
      { output_config: { effort: 'low', format } },
      { effort: 'low' },
      { output_config: { effort: 'low' } },
    ],
    [
      'format',
      { output_config: { effort: 'low', format, other: 1 } },
      { format: { type: 'json_schema', name: 'x', schema: {} } },
      { output_config: { format, other: 1 } },
    ],
    ['temperature', { temperature: 0.5, top_p: 0.5 }, { topP: 0.5 }, { top_p: 0.5 }],
    ['tools', { tools: [{ name: 'f' }] }, {}, {}],
    ['tools', { tools: [{ name: 'f', x: 1 }] }, { tools: [tool] }, { tools: [{ name: 'f', x: 1 }] }],
    ['stop sequences', { stop_sequences: ['a'] }, { stop: ['a'] }, { stop_sequences: ['a'] }],
    ['threads', { thread: null }, {}, {}],
  ])('with %s of %j only where the generation has it: %j', (_, body, changes, expected) => {
    const { model, max_tokens, messages, ...rest } = sent(body, changes).body
    expect<unknown>(rest).toEqual(expected)
    expect([model, max_tokens, messages]).toEqual(['claude-sonnet-4-5', 10, [question]])
  })

  test('with ids that it accepts', () => {
    const id = 'functions.measure:0'
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '4' }] },
    ]
    const [turn, result] = sent({ messages }).messages
    const [call] = turn?.content ?? []
    expect(call).toMatchObject({ id: expect.stringMatching(/^[a-zA-Z0-9_-]+$/) })
    expect(result?.content[0]).toMatchObject({ tool_use_id: (call as { id?: string }).id })
  })

  test('without thinking that the gateway has sealed', () => {
    const signature = sealState({ provider: 'acme', state: {} })
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature },
      { type: 'redacted_thinking', data: signature },
      { type: 'thinking', thinking: 'Own.', signature: 'EqQB' },
    ]
    expect<unknown>(sent({ messages: [{ role: 'assistant', content }] }).messages).toEqual([
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Own.', signature: 'EqQB' }] },
    ])
  })
})

import { describe, expect, test } from 'bun:test'
import type { Effort, Message } from '../../../../src/domain/generation/request.ts'
import { callsMessage, render, resultMessage, textMessage, tool } from './support/anthropic-render.ts'

const off = {}
const adaptive = (effort: string) => ({
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort },
})
const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
const disabled = { thinking: { type: 'disabled' } }

function thinkingOf(effort: Effort | undefined, model: string, maxTokens?: number) {
  const { body, warnings } = render({ effort, maxTokens }, model)
  const { thinking, output_config } = body
  return { sent: JSON.parse(JSON.stringify({ thinking, output_config })), warnings }
}

describe('a reasoning effort for Claude', () => {
  test.each<[string, Effort | undefined, object]>([
    ['claude-opus-5', undefined, off],
    ['claude-opus-5', 'none', disabled],
    ['claude-opus-5', 'minimal', adaptive('low')],
    ['claude-sonnet-5', 'xhigh', adaptive('xhigh')],
    ['claude-opus-4-8', 'max', adaptive('max')],
    ['claude-opus-4-6', 'high', adaptive('high')],
    ['claude-sonnet-4-6', 'xhigh', adaptive('max')],
    ['claude-haiku-4-5-20251001', 'none', off],
    ['claude-haiku-4-5-20251001', 'minimal', budget(1024)],
    ['claude-sonnet-4-5@20250929', 'low', budget(2048)],
    ['claude-opus-4-20250514', 'medium', budget(10_000)],
    ['claude-3-7-sonnet-20250219', 'max', budget(31_744)],
    ['claude-something-7', 'medium', adaptive('medium')],
    ['kimi-k9', 'low', budget(2048)],
  ])('is rendered for %s as its generation expects: %p', (model, effort, expected) => {
    const { sent, warnings } = thinkingOf(effort, model)
    expect(sent).toEqual(expected)
    expect(warnings).toEqual([])
  })

  test('of none is low where a model always reasons, and absent where it never does', () => {
    for (const model of ['claude-fable-5', 'claude-opus-5-5', 'claude-sonnet-5-5@20260928']) {
      expect(thinkingOf('none', model).sent).toEqual(adaptive('low'))
      expect(thinkingOf('none', model).warnings).toHaveLength(1)
    }
    expect(thinkingOf('none', 'claude-opus-5').warnings).toEqual([])
    expect(thinkingOf('none', 'claude-3-5-haiku-latest')).toEqual({ sent: off, warnings: [] })
    expect(thinkingOf('high', 'claude-3-5-haiku-latest').sent).toEqual(off)
    expect(thinkingOf('high', 'claude-3-5-haiku-latest').warnings).toHaveLength(1)
  })

  test.each([
    [12_000, 10_000],
    [5000, 3976],
    [1500, 1024],
  ])('has a budget below max_tokens %p', (maxTokens, expected) => {
    expect(thinkingOf('medium', 'claude-haiku-4-5', maxTokens).sent).toEqual(budget(expected))
  })

  test('is ignored with a warning where max_tokens is too small for a budget', () => {
    const { sent, warnings } = thinkingOf('medium', 'claude-haiku-4-5', 1024)
    expect(sent).toEqual(off)
    expect(warnings).toHaveLength(1)
  })

  test.each(['required', { name: 'f' }] as const)(
    'with a budget excludes a forced call: %p',
    (toolChoice) => {
      const changes = { effort: 'low', tools: [tool], toolChoice } as const
      const within = render(changes, 'claude-haiku-4-5')
      expect(within.body).not.toHaveProperty('thinking')
      expect(within.warnings).toHaveLength(1)
      expect(render(changes, 'claude-opus-5').body).toMatchObject(adaptive('low'))
    },
  )

  test('excludes a temperature while the model reasons', () => {
    for (const model of ['claude-haiku-4-5', 'claude-sonnet-4-6']) {
      const { body, warnings } = render({ effort: 'low', temperature: 0.5, topP: 0.5 }, model)
      expect(body).not.toHaveProperty('temperature')
      expect(body).not.toHaveProperty('top_p')
      expect(warnings).toEqual([
        `Parameters \`temperature\` and \`top_p\` are not supported by ${model} with reasoning and were ignored.`,
      ])
    }
  })
})

describe('the reasoning of Claude before its tool calls', () => {
  const thought = { type: 'thinking', thinking: 'Hm', signature: 'c2ln', extra: 1 }
  const hidden = { type: 'redacted_thinking', data: 'QUJD' }
  const state = { thinking_blocks: [thought, hidden] }
  const ask = textMessage('user', 'Do it.')
  const loop = (...messages: Message[]) => ({ messages: [ask, ...messages], tools: [tool] })
  const haiku = 'claude-haiku-4-5'

  test('is sent back unchanged, before everything else of that turn', () => {
    const { body, messages } = render(
      {
        ...loop(callsMessage(['a', 'b'], state, 'I do.'), resultMessage('a'), resultMessage('b')),
        effort: 'low',
      },
      haiku,
    )
    expect(messages[1]?.content).toMatchObject([thought, hidden, { type: 'text' }, { id: 'a' }, { id: 'b' }])
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 2048 })
  })

  test('is sent back with the call that followed it, where there are several', () => {
    const later = { thinking_blocks: [{ ...thought, thinking: 'And' }] }
    const messages = [
      callsMessage(['a'], state),
      callsMessage(['b'], later),
      resultMessage('a'),
      resultMessage('b'),
    ]
    const rendered = render({ ...loop(...messages), effort: 'low' }, 'claude-opus-5')
    expect(rendered.messages[1]?.content).toMatchObject([
      thought,
      hidden,
      { id: 'a' },
      { thinking: 'And' },
      { id: 'b' },
    ])
    const [first, second] = [callsMessage(['a'], state), callsMessage(['b'], later)].flatMap((turn) =>
      turn.role === 'assistant' ? turn.toolCalls : [],
    )
    const together = { role: 'assistant', parts: [], toolCalls: [first!, second!] } as const
    expect(
      render({ ...loop(together, resultMessage('a'), resultMessage('b')), effort: 'low' }, 'claude-opus-5')
        .messages,
    ).toEqual(rendered.messages)
  })

  test('is sent back to a model that reasons by default', () => {
    const changes = loop(callsMessage(['a'], state), resultMessage('a'))
    expect(render(changes, 'claude-sonnet-5').messages[1]?.content).toMatchObject([
      thought,
      hidden,
      { id: 'a' },
    ])
  })

  test('is not sent back where reasoning is disabled', () => {
    const changes = loop(callsMessage(['a'], state), resultMessage('a'))
    for (const { messages } of [
      render(changes, haiku),
      render({ ...changes, effort: 'none' }, 'claude-sonnet-5'),
    ])
      expect(messages[1]?.content).toMatchObject([{ type: 'tool_use' }])
  })

  test('disables reasoning with a budget where the open tool loop began without it', () => {
    const lost = render(
      {
        ...loop(callsMessage(['a']), resultMessage('a'), callsMessage(['b'], state), resultMessage('b')),
        effort: 'low',
      },
      haiku,
    )
    expect(lost.body).not.toHaveProperty('thinking')
    expect(JSON.stringify(lost.body)).not.toContain('c2ln')
    expect(lost.warnings).toHaveLength(1)
  })

  test('may be missing from later turns of the loop and from a finished loop', () => {
    const later = loop(
      callsMessage(['a'], state),
      resultMessage('a'),
      callsMessage(['b']),
      resultMessage('b'),
    )
    const finished = loop(callsMessage(['a']), resultMessage('a'), callsMessage([], undefined, 'Done.'), ask)
    for (const changes of [later, finished]) {
      const { body, warnings } = render({ ...changes, effort: 'low' }, haiku)
      expect(body).toMatchObject(budget(2048))
      expect(warnings).toEqual([])
    }
  })

  test('may be missing where the model chooses when to reason', () => {
    const changes = loop(callsMessage(['a']), resultMessage('a'))
    const { body, warnings } = render({ ...changes, effort: 'low' }, 'claude-opus-5')
    expect(body).toMatchObject(adaptive('low'))
    expect(warnings).toEqual([])
  })

  test('is not taken from the state of another provider', () => {
    const foreign = {
      reasoning_content: 'secret',
      extra_content: { google: { thought_signature: 'secret' } },
    }
    const { body } = render(
      { ...loop(callsMessage(['a'], foreign), resultMessage('a')), effort: 'low' },
      'claude-opus-5',
    )
    expect(JSON.stringify(body)).not.toContain('secret')
  })
})

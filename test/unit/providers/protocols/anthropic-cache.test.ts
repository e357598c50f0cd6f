import { describe, expect, test } from 'bun:test'
import type { Message, Part } from '../../../../src/domain/generation/request.ts'
import { callsMessage, render, textMessage, tool } from './support/anthropic-render.ts'

const hour = { type: 'ephemeral', ttl: '1h' }
const usual = { type: 'ephemeral' }
const text = (text: string, cache_control?: unknown): Part => {
  return { type: 'text', text, ...(cache_control === undefined ? {} : { extras: { cache_control } }) }
}
const user = (...parts: Part[]): Message => ({ role: 'user', parts })

describe('cache_control', () => {
  test('is sent with the text and the image that it was set on, unchanged and without a warning', () => {
    const image: Part = { type: 'image', url: 'https://example.com/a.png', extras: { cache_control: usual } }
    const { messages, warnings } = render({ messages: [user(text('Long.', hour), image, text('Short.'))] })
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: 'Long.', cache_control: hour },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' }, cache_control: usual },
      { type: 'text', text: 'Short.' },
    ])
    expect(warnings).toEqual([])
  })

  test('of a file is sent with its document', () => {
    const file = { file_data: 'data:application/pdf;base64,QUJD' }
    const part: Part = { type: 'foreign', value: { type: 'file', file, cache_control: usual } }
    const { messages, warnings } = render({ messages: [user(part)] })
    expect(messages[0]?.content).toMatchObject([{ type: 'document', cache_control: usual }])
    expect(warnings).toEqual([])
  })

  test('in the instructions makes parts of them, in their order', () => {
    const rules: Message = { role: 'system', parts: [text('Rules.', usual), text('Today.')] }
    const messages = [rules, textMessage('developer', 'Be kind.'), textMessage('user', 'Hi')]
    const { body, warnings } = render({ messages })
    expect(body.system).toEqual([
      { type: 'text', text: 'Rules.', cache_control: usual },
      { type: 'text', text: 'Today.' },
      { type: 'text', text: 'Be kind.' },
    ])
    expect(warnings).toEqual([])
  })

  test('does not prevent the instruction for a JSON response', () => {
    const messages = [{ role: 'system', parts: [text('Rules.', usual)] } as const, textMessage('user', 'Hi')]
    const { body } = render({ messages, format: { type: 'json_object' } })
    expect(body.system).toMatchObject([{ text: 'Rules.' }, { text: expect.stringContaining('JSON') }])
  })

  test('in assistant and tool messages is sent, with the result for its parts', () => {
    const reply: Message = { role: 'assistant', parts: [text('I look.', usual)], toolCalls: [] }
    const done: Message = { role: 'tool', callId: 'a', parts: [text('4 m', usual)] }
    const plot: Part = { type: 'image', url: 'data:image/png;base64,QUJD' }
    const drawn: Message = { role: 'tool', callId: 'b', parts: [text('A plot.', hour), plot] }
    const requested = [textMessage('user', 'Hi'), reply, callsMessage(['a', 'b']), done, drawn]
    const { messages, warnings } = render({ messages: requested, tools: [tool] })
    expect(messages[1]?.content[0]).toEqual({ type: 'text', text: 'I look.', cache_control: usual })
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: '4 m', cache_control: usual },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        content: [
          { type: 'text', text: 'A plot.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
        ],
        cache_control: hour,
      },
    ])
    expect(warnings).toEqual([])
  })

  test('leaves the other properties of its part to the warning', () => {
    const part: Part = { type: 'text', text: 'Hi', extras: { cache_control: usual, mood: 'calm' } }
    const { messages, warnings } = render({ messages: [user(part)] })
    expect(messages[0]?.content).toEqual([{ type: 'text', text: 'Hi', cache_control: usual }])
    expect(warnings).toEqual([
      'Property `messages[].content[].mood` is not supported by anthropic and was ignored.',
    ])
  })

  test.each(['ephemeral', true, {}, { type: 'persistent' }])(
    'in another form is ignored with a warning: %j',
    (wish) => {
      const { body, warnings } = render({ messages: [user(text('Hi', wish))] })
      expect(JSON.stringify(body)).not.toContain('cache_control')
      expect(warnings).toEqual([
        'Property `messages[].content[].cache_control` is not supported by anthropic and was ignored.',
      ])
    },
  )
})

test('providers that cache by themselves get no field for it, which they would reject', () => {
  const { body } = render({ messages: [user(text('Hi', usual))] }, 'gemini-2.5-flash', {}, 'gemini')
  expect(JSON.stringify(body)).not.toContain('cache_control')
})

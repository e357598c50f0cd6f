import { describe, expect, test } from 'bun:test'
import type { AssistantMessage, Part } from '../../../../src/domain/generation/request.ts'
import { callsMessage, render, resultMessage, textMessage, tool } from './support/anthropic-render.ts'

const user = textMessage('user', 'Hi')
const reply = (text: string): AssistantMessage => ({
  role: 'assistant',
  parts: [{ type: 'text', text }],
  toolCalls: [],
})
const partsOf = (...parts: Part[]) => {
  const { messages, warnings } = render({ messages: [{ role: 'user', parts }] })
  return { content: messages[0]?.content, warnings }
}

describe('a conversation with Claude', () => {
  test('has its instructions before it, wherever they are', () => {
    const messages = [textMessage('system', 'Be brief.'), user, textMessage('developer', 'Be kind.')]
    const { body, warnings } = render({ messages })
    expect(body.system).toBe('Be brief.\n\nBe kind.')
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
    expect(warnings).toHaveLength(1)
    expect(render({ messages: messages.slice(0, 2) }).warnings).toEqual([])
  })

  test('alternates turns: consecutive messages of one role are joined, and empty ones dropped', () => {
    const messages = [
      user,
      textMessage('user', '  '),
      textMessage('user', 'you'),
      reply(''),
      reply('Ho'),
      user,
    ]
    const rendered = render({ messages })
    expect(rendered.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(rendered.messages[0]?.content).toHaveLength(2)
  })

  test('begins with the user: with a placeholder, or with instructions that are alone', () => {
    const opening = render({ messages: [reply('Welcome!'), user] })
    expect(opening.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(opening.warnings).toHaveLength(1)
    const alone = render({ messages: [textMessage('system', 'Tell a joke.')] })
    expect(alone.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Tell a joke.' }] }])
    expect(alone.body).not.toHaveProperty('system')
    expect(render({ messages: [textMessage('user', '')] }).messages).toHaveLength(1)
  })

  test('has no trailing white space in a prefilled assistant message', () => {
    expect(render({ messages: [user, reply('Once \n')] }).messages[1]?.content).toEqual([
      { type: 'text', text: 'Once' },
    ])
  })

  test('has an earlier refusal as its text; an image of the assistant is ignored', () => {
    const refusal: Part = { type: 'foreign', value: { type: 'refusal', refusal: 'No.' } }
    const image: Part = { type: 'image', url: 'https://example.com/a.png' }
    const output: AssistantMessage = { role: 'assistant', parts: [refusal, image], toolCalls: [] }
    const { messages, warnings } = render({ messages: [user, output, user] })
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'No.' }])
    expect(warnings).toEqual([
      'Content part type `image_url` is not supported by anthropic in system and assistant messages and was ignored.',
    ])
  })

  test('ignores names and unknown properties with a warning, and empty ones without', () => {
    const messages = [{ ...user, name: 'ada', extras: { mood: 'calm', audio: null, annotations: [] } }]
    const { body, warnings } = render({ messages })
    expect(warnings).toEqual([
      'Properties `messages[].mood` and `messages[].name` are not supported by anthropic and were ignored.',
    ])
    expect(JSON.stringify(body)).not.toContain('ada')
  })
})

describe('the tool calls and results of a conversation with Claude', () => {
  test('are one turn for parallel results, before the text that follows', () => {
    const messages = [
      user,
      callsMessage(['a', 'b']),
      resultMessage('a'),
      textMessage('user', 'And now?'),
      resultMessage('b', ''),
    ]
    const rendered = render({ messages, tools: [tool] })
    expect(rendered.messages).toHaveLength(3)
    expect(rendered.messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'done' },
      { type: 'tool_result', tool_use_id: 'b' },
      { type: 'text', text: 'And now?' },
    ])
  })

  test('are one turn for calls in separate messages', () => {
    const messages = [user, callsMessage(['a']), callsMessage(['b']), resultMessage('a'), resultMessage('b')]
    expect(render({ messages, tools: [tool] }).messages[1]?.content).toMatchObject([{ id: 'a' }, { id: 'b' }])
  })

  test.each(['functions.f:0', '', 'ünïcode', 'a b'])(
    'replace the id %p by a valid one, and the same one each time',
    (id) => {
      const { messages } = render({
        messages: [user, callsMessage([id, 'call_ok-1']), resultMessage(id)],
        tools: [tool],
      })
      const [first, second] = (messages[1]?.content ?? []) as { id: string }[]
      expect(first?.id).toMatch(/^[a-zA-Z0-9_-]+$/)
      expect(second?.id).toBe('call_ok-1')
      expect(messages[2]?.content).toMatchObject([{ tool_use_id: first?.id }])
    },
  )

  test.each([
    ['', {}, 0],
    ['{"x":1}', { x: 1 }, 0],
    ['[1]', { arguments: [1] }, 1],
    ['{"x', { arguments: '{"x' }, 1],
  ])('have the arguments %p as an object', (text, input, warned) => {
    const toolCalls = [{ id: 'a', name: 'f', arguments: text }]
    const messages = [user, { role: 'assistant', parts: [], toolCalls } as const, resultMessage('a')]
    const rendered = render({ messages, tools: [tool] })
    expect(rendered.messages[1]?.content).toMatchObject([{ type: 'tool_use', input }])
    expect(rendered.warnings).toHaveLength(warned)
  })

  test('may have an image in a result', () => {
    const parts: Part[] = [
      { type: 'text', text: 'A plot.' },
      { type: 'image', url: 'data:image/png;base64,QUJD' },
    ]
    const rendered = render({
      messages: [user, callsMessage(['a']), { role: 'tool', callId: 'a', parts }],
      tools: [tool],
    })
    expect(rendered.messages[2]?.content).toMatchObject([
      { type: 'tool_result', content: [{ type: 'text' }, { type: 'image', source: { data: 'QUJD' } }] },
    ])
  })

  test('are declared without tools in the request, and may not be called again', () => {
    const { body } = render({
      messages: [user, callsMessage(['a', 'b']), resultMessage('a'), resultMessage('b')],
    })
    expect(body.tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }])
    expect(body.tool_choice).toEqual({ type: 'none' })
  })
})

describe('an image or a file for Claude', () => {
  test.each([
    ['data:image/png;base64,QUJD', { type: 'base64', media_type: 'image/png', data: 'QUJD' }],
    ['data:image/JPG;charset=x;base64,QUJD', { type: 'base64', media_type: 'image/jpeg', data: 'QUJD' }],
    ['data:image/webp,A%20B', { type: 'base64', media_type: 'image/webp', data: 'QSBC' }],
    ['https://example.com/a.png', { type: 'url', url: 'https://example.com/a.png' }],
  ])('is sent as its source: %p', (url, source) => {
    const { content, warnings } = partsOf({ type: 'image', url, detail: 'auto' })
    expect(content).toEqual([{ type: 'image', source }])
    expect(warnings).toEqual([])
  })

  test.each([
    [
      'data:application/pdf;base64,QUJD',
      'document',
      { type: 'base64', media_type: 'application/pdf', data: 'QUJD' },
    ],
    ['data:text/csv;base64,QUJD', 'document', { type: 'text', media_type: 'text/plain', data: 'ABC' }],
    ['data:image/gif;base64,QUJD', 'image', { type: 'base64', media_type: 'image/gif', data: 'QUJD' }],
  ])('is sent as what it is: %p', (file_data, type, source) => {
    const { content } = partsOf({
      type: 'foreign',
      value: { type: 'file', file: { file_data, filename: 'a' } },
    })
    expect(content).toMatchObject([{ type, source }])
  })

  test('ignores a detail with a warning', () => {
    expect(
      partsOf({ type: 'image', url: 'https://example.com/a.png', detail: 'high' }).warnings,
    ).toHaveLength(1)
  })

  test.each([
    [{ type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }],
    [{ type: 'file', file: { file_data: 'data:application/zip;base64,QUJD' } }],
    [{ type: 'file' }],
  ])('is ignored with a warning: %p', (value) => {
    const { content, warnings } = partsOf({ type: 'text', text: 'Hi' }, { type: 'foreign', value })
    expect(content).toEqual([{ type: 'text', text: 'Hi' }])
    expect(warnings).toHaveLength(1)
  })
})

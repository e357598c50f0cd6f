import { describe, expect, test } from 'bun:test'
import type { Generation, Message, Part } from '../../../../src/domain/generation/request.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import { protocolNamed } from './support/chunks.ts'
import { plainGeneration } from './support/generations.ts'

const image: Part = { type: 'image', url: 'data:image/png;base64,QUJD' }
const rendered = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }
const text = (words: string) => ({ type: 'text', text: words }) as const
const result = (callId: string, ...parts: Part[]): Message => ({ role: 'tool', callId, parts })
const calls: Message = {
  role: 'assistant',
  parts: [],
  toolCalls: ['a', 'b'].map((id) => ({ id, name: 'f', arguments: '{}' })),
}

function messagesOf(messages: readonly Message[], changes: Partial<Generation> = {}, kind = 'openai') {
  const target = { model: 'm', stream: false }
  const body = protocolNamed(kind).render({ ...plainGeneration, ...changes, messages }, target, () => {})
  return JSON.parse(JSON.stringify(body)).messages
}

const heading = (id: string) => text(`Attachments of the result of tool call ${id}:`)

describe('the images of tool results in chat completions', () => {
  test('follow all results of the turn', () => {
    const messages = [calls, result('a', text('See.'), image), result('b', text('4 m'))]
    expect(messagesOf(messages).slice(1)).toEqual([
      { role: 'tool', content: 'See.', tool_call_id: 'a' },
      { role: 'tool', content: '4 m', tool_call_id: 'b' },
      { role: 'user', content: [heading('a'), rendered] },
    ])
  })

  test('join the message of the user that follows', () => {
    const messages = [
      calls,
      result('a', image),
      result('b', image),
      { role: 'user', parts: [text('And?')] } as const,
    ]
    expect(messagesOf(messages).slice(1)).toEqual([
      { role: 'tool', content: 'The result is attached to the next message.', tool_call_id: 'a' },
      { role: 'tool', content: 'The result is attached to the next message.', tool_call_id: 'b' },
      { role: 'user', content: [heading('a'), rendered, heading('b'), rendered, text('And?')] },
    ])
  })

  test('are announced by the id that the provider gave to the call', () => {
    const state = { reasoning: 'Let me look.', id: 'functions.look:0' }
    const toolCalls = [{ id: 'call_b7Kx2mQ9pLwZ4tRv', name: 'look', arguments: '{}', state }]
    const turn: Message = { role: 'assistant', parts: [], toolCalls }
    const messages = [turn, result('call_b7Kx2mQ9pLwZ4tRv', image)]
    expect(messagesOf(messages, {}, 'vllm')).toEqual([
      expect.objectContaining({ tool_calls: [expect.objectContaining({ id: 'functions.look:0' })] }),
      expect.objectContaining({ role: 'tool', tool_call_id: 'functions.look:0' }),
      { role: 'user', content: [heading('functions.look:0'), rendered] },
    ])
  })

  test('come before the next turn of the model', () => {
    const turn: Message = { role: 'assistant', parts: [text('Four.')], toolCalls: [] }
    expect(
      messagesOf([calls, result('a', image), result('b'), turn]).map(({ role }: Message) => role),
    ).toEqual(['assistant', 'tool', 'tool', 'user', 'assistant'])
  })
})

describe('the markers of Anthropic’s cache in chat completions', () => {
  const extras = { cache_control: { type: 'ephemeral' } }
  const messages: readonly Message[] = [{ role: 'user', parts: [{ ...text('Hello'), extras }] }]
  const source = { protocol: 'anthropic' as const, body: {} }

  test.each([
    ['openai', 'Hello'],
    ['vllm', 'Hello'],
    ['openrouter', [{ ...text('Hello'), ...extras }]],
  ])('of a Messages request reach %s as %j', (kind, content) => {
    expect(messagesOf(messages, { source }, kind)).toEqual([{ role: 'user', content }])
  })

  test('of a chat completions request reach every provider that accepts unknown fields', () => {
    expect(messagesOf(messages, {}, 'vllm')).toEqual([
      { role: 'user', content: [{ ...text('Hello'), ...extras }] },
    ])
  })
})

describe('the user', () => {
  const target = { model: 'm', stream: false }
  const source = { protocol: 'anthropic' as const, body: {} }
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
  test.each<readonly [string, Partial<Generation>, unknown]>([
    ['of a Messages request', { source, user: 'user-1' }, 'user-1'],
    ['of 64 characters of a Messages request', { source, user: 'u'.repeat(64) }, 'u'.repeat(64)],
    ['of more characters of a Messages request', { source, user: 'u'.repeat(65) }, hash],
    ['of any length of another request', { user: 'u'.repeat(65) }, 'u'.repeat(65)],
  ])('%s', (_, changes, expected) => {
    for (const protocol of [protocolNamed('openai'), protocolNamed('vllm'), responses])
      expect<unknown>(protocol.render({ ...plainGeneration, ...changes }, target, () => {}).user).toEqual(
        expected,
      )
  })
})

import { describe, expect, test } from 'bun:test'
import type { ToolCallEvent } from '../../../../src/domain/generation/events.ts'
import type { Message, PastToolCall } from '../../../../src/domain/generation/request.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import { readStream } from './support/parsed-reply.ts'
import { plainGeneration } from './support/generations.ts'

type Item = Readonly<Record<string, unknown>>

const call = (call_id: string, rest: object = {}): Item => ({
  type: 'function_call',
  call_id,
  name: 'open_gate',
  arguments: '{"cm":4}',
  ...rest,
})
const reasoning: Item = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  content: [],
  encrypted_content: 'gAAAA1',
  status: null,
}
const kept: Item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA1' }

/** The calls of a stream of these items, whose last event repeats them. */
function streamed(...output: Item[]): ToolCallEvent[] {
  const items = output.map((item) => ({ type: 'response.output_item.done', item }))
  return callsIn([...items, { type: 'response.completed', response: { status: 'completed', output } }])
}

function callsIn(values: readonly object[]): ToolCallEvent[] {
  const body = values.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return readStream(responses, Buffer.from(body)).filter((event) => event.type === 'tool-call')
}

function complete(...output: Item[]): ToolCallEvent[] {
  return responses.parse({ status: 'completed', output }).filter((event) => event.type === 'tool-call')
}

const inputOf = (...messages: Message[]) =>
  responses.render({ ...plainGeneration, messages }, { model: 'm', stream: false }, () => {}).input

const past = (id: string, rest: Partial<PastToolCall> = {}): PastToolCall => ({
  id,
  name: 'open_gate',
  arguments: '{}',
  ...rest,
})
const turn = (...toolCalls: PastToolCall[]): Message => ({ role: 'assistant', parts: [], toolCalls })
const result = (callId: string, ...texts: string[]): Message => ({
  role: 'tool',
  callId,
  parts: texts.map((text) => ({ type: 'text', text })),
})

describe('the tool calls of a response', () => {
  test('are emitted when they are complete and not again at the end', () => {
    const calls = streamed(call('call_abc12345'), call('call_def67890'))
    expect(calls.map((event) => event.call)).toEqual([
      { id: 'call_abc12345', name: 'open_gate', arguments: '{"cm":4}' },
      { id: 'call_def67890', name: 'open_gate', arguments: '{"cm":4}' },
    ])
  })

  test('are emitted at the end where no event of their own arrived', () => {
    const end = {
      type: 'response.completed',
      response: { status: 'completed', output: [call('call_abc12345')] },
    }
    expect(callsIn([end])).toHaveLength(1)
  })

  test.each([
    ['nothing', undefined, '{}'],
    ['an empty text', ' ', '{}'],
    ['an object', { cm: 4 }, '{"cm":4}'],
  ])('with %s as arguments have JSON text', (_name, values, expected) => {
    expect(complete(call('call_abc12345', { arguments: values }))[0]?.call.arguments).toBe(expected)
  })

  test('that the output limit interrupted are not emitted', () => {
    const cut = call('call_abc12345', { arguments: '{"c', status: 'incomplete' })
    const response = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [cut],
    }
    expect(responses.parse(response)).toEqual([{ type: 'finish', choice: 0, reason: 'length' }])
  })

  test.each(['call_0', 'functions.open_gate:12', '', 'call_'])(
    'do not keep the id %p, which may be repeated',
    (id) => {
      const [first, second] = streamed(call(id), call(id))
      expect(first?.call.id).toMatch(/^call_[A-Za-z0-9]{24}$/)
      expect(second?.call.id).toMatch(/^call_[A-Za-z0-9]{24}$/)
      expect(first?.call.id).not.toBe(second?.call.id)
    },
  )

  test('keep a unique id, also where another call of the reply has it too', () => {
    const own = 'call-2287d3de-269c-416e-a172-6e4ecc95e9ec-0'
    const ids = streamed(call(own), call(own)).map((event) => event.call.id)
    expect(ids[0]).toBe(own)
    expect(ids[1]).not.toBe(own)
  })
})

describe('the provider state of the calls of a response', () => {
  test('is the encrypted reasoning before each, without its empty fields', () => {
    const second = { ...reasoning, id: 'rs_2' }
    const items = [reasoning, call('call_abc12345'), call('call_abc12346'), second, call('call_abc12347')]
    const states = [{ reasoning: [kept] }, undefined, { reasoning: [{ ...kept, id: 'rs_2' }] }]
    expect(streamed(...items).map((event) => event.state as unknown)).toEqual(states)
    expect(complete(...items).map((event) => event.state as unknown)).toEqual(states)
  })

  test('is plain reasoning, and none that only refers to stored items', () => {
    const open = {
      type: 'reasoning',
      id: 'r',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
    }
    expect(complete(open, call('call_abc12345'))[0]?.state as unknown).toEqual({ reasoning: [open] })
    const stored = { ...reasoning, encrypted_content: null }
    expect(complete(stored, call('call_abc12345'))[0]).not.toHaveProperty('state')
  })

  test('is the phase of the text before it', () => {
    const message = { type: 'message', phase: 'commentary', content: [] }
    expect(complete(message, call('call_abc12345'))[0]?.state).toEqual({ phase: 'commentary' })
  })

  test('precedes its call, and the first one the text of the turn', () => {
    const first = past('call_a1234', {
      state: { reasoning: [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'a' }], phase: 'commentary' },
    })
    const last = past('call_b1234', {
      state: { reasoning: [{ type: 'reasoning', id: 'rs_2', encrypted_content: 'b' }] },
    })
    const outputText: Message = {
      role: 'assistant',
      parts: [{ type: 'text', text: 'I look.' }],
      toolCalls: [first, last],
    }
    expect(inputOf(outputText)).toEqual([
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'a' },
      { role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_a1234', name: 'open_gate', arguments: '{}' },
      { type: 'reasoning', id: 'rs_2', encrypted_content: 'b' },
      { type: 'function_call', call_id: 'call_b1234', name: 'open_gate', arguments: '{}' },
    ])
  })

  test('is none of the state of another format', () => {
    const state = { reasoning_details: ['secret'], reasoning_content: 'secret', extra_content: 'secret' }
    expect(JSON.stringify(inputOf(turn(past('call_a1234', { state }))))).not.toContain('secret')
  })
})

describe('a tool loop at the Responses API', () => {
  test('has calls and results by their ids, without an empty message', () => {
    const second = past('toolu_2', { arguments: '' })
    const input = inputOf(turn(past('call_a1234'), second), result('toolu_2', 'Open.'), result('call_a1234'))
    expect(input).toEqual([
      { type: 'function_call', call_id: 'call_a1234', name: 'open_gate', arguments: '{}' },
      { type: 'function_call', call_id: 'toolu_2', name: 'open_gate', arguments: '{}' },
      { type: 'function_call_output', call_id: 'toolu_2', output: 'Open.' },
      { type: 'function_call_output', call_id: 'call_a1234', output: '' },
    ])
  })

  test('has the texts of a result as one and an image beside its text as a list', () => {
    const image: Message = {
      role: 'tool',
      callId: 'call_b1234',
      parts: [
        { type: 'text', text: 'See.' },
        { type: 'image', url: 'data:image/png;base64,QUJD' },
      ],
    }
    const input = inputOf(turn(past('call_a1234'), past('call_b1234')), result('call_a1234', 'a', 'b'), image)
    expect(input).toMatchObject([
      {},
      {},
      { output: 'a\nb' },
      { output: [{ type: 'input_text' }, { type: 'input_image' }] },
    ])
  })

  test('shortens an id that is too long, for the call and its result alike', () => {
    const long = 'x'.repeat(65)
    const [called, replied] = inputOf(turn(past(long)), result(long, 'Open.')) as Item[]
    expect(String(called?.call_id).length).toBeLessThanOrEqual(64)
    expect(replied?.call_id).toBe(called?.call_id)
  })
})

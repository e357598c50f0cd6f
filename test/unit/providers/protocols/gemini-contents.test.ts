import { describe, expect, test } from 'bun:test'
import type { Generation, Message, Part, PastToolCall } from '../../../../src/domain/generation/request.ts'
import { protocolNamed } from './support/chunks.ts'
import { plainGeneration } from './support/generations.ts'

function render(messages: Generation['messages'], model = 'gemini-2.5-flash', kind = 'gemini') {
  const warnings: string[] = []
  const body = protocolNamed(kind).render(
    { ...plainGeneration, messages },
    { model, stream: false },
    (warning) => warnings.push(warning),
  )
  return { body: JSON.parse(JSON.stringify(body)), warnings }
}

const text = (words: string): Part => ({ type: 'text', text: words })
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const output = (words: string, ...toolCalls: PastToolCall[]): Message => {
  return { role: 'assistant', parts: words === '' ? [] : [text(words)], toolCalls }
}
const result = (callId: string, words: string): Message => ({ role: 'tool', callId, parts: [text(words)] })
const call = (id: string, name: string, rest: Partial<PastToolCall> = {}): PastToolCall => {
  return { id, name, arguments: '{"x":1}', ...rest }
}

describe('the turns of a Gemini conversation', () => {
  test('join consecutive messages of one role, and exclude the system messages', () => {
    const { body, warnings } = render([
      { role: 'system', parts: [text('Be brief.')] },
      { role: 'developer', parts: [text('Be kind.')] },
      user(text('Hi'), text('')),
      user(text('there')),
      output('Yes?'),
      output('Well?'),
      user(text('Go')),
    ])
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] })
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'model', parts: [{ text: 'Yes?' }, { text: 'Well?' }] },
      { role: 'user', parts: [{ text: 'Go' }] },
    ])
    expect(warnings).toEqual([])
  })

  test('move later system messages to the beginning, with a warning', () => {
    const { body, warnings } = render([user(text('Hi')), { role: 'system', parts: [text('Be brief.')] }])
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
    expect(warnings).toHaveLength(1)
  })

  test('begin with the user, also where the client begins otherwise', () => {
    expect(render([output('Hello'), user(text('Hi'))]).body.contents[0].role).toBe('user')
    const alone = render([{ role: 'system', parts: [text('Write a poem.')] }]).body
    expect(alone).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Write a poem.' }] }] })
  })

  test('ignore names and fields of messages with one warning', () => {
    const message: Message = { ...user(text('Hi')), name: 'ada', extras: { mood: 'calm', refusal: null } }
    expect(render([message, message]).warnings).toEqual([
      'Properties `messages[].name` and `messages[].mood` are not supported by gemini and were ignored.',
    ])
  })
})

describe('the parts of a Gemini message', () => {
  const partsOf = (...parts: Part[]) => {
    const { body, warnings } = render([user(text('Look'), ...parts)])
    return { parts: body.contents[0].parts.slice(1), warnings }
  }
  const foreign = (value: { type: string } & Record<string, unknown>): Part => ({ type: 'foreign', value })

  test('contain an image by its bytes, and without its detail', () => {
    const { parts, warnings } = partsOf({ type: 'image', url: 'data:image/png;base64,QUJD', detail: 'low' })
    expect(parts).toEqual([{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }])
    expect(warnings).toEqual([
      'Property `messages[].content[].image_url.detail` is not supported by gemini and was ignored.',
    ])
    expect(protocolNamed('gemini').inlineImages).toBe(true)
  })

  test('accept data URLs of every form', () => {
    const dataOf = (url: string) => partsOf({ type: 'image', url }).parts[0].inlineData
    expect(dataOf('DATA:image/svg+xml,%3Csvg%2F%3E')).toEqual({
      mimeType: 'image/svg+xml',
      data: btoa('<svg/>'),
    })
    expect(dataOf('data:image/png;name=a;base64,QUI%3D')).toEqual({ mimeType: 'image/png', data: 'QUI=' })
  })

  test('contain files, audio and refusals', () => {
    const file = { file_data: 'data:application/pdf;base64,QUJD', filename: 'a.pdf' }
    const { parts, warnings } = partsOf(
      foreign({ type: 'file', file }),
      foreign({ type: 'input_audio', input_audio: { data: 'REVG', format: 'wav' } }),
      foreign({ type: 'refusal', refusal: 'No.' }),
    )
    expect(parts).toEqual([
      { inlineData: { mimeType: 'application/pdf', data: 'QUJD' } },
      { inlineData: { mimeType: 'audio/wav', data: 'REVG' } },
      { text: 'No.' },
    ])
    expect(warnings).toEqual([])
  })

  test('ignore other parts with a warning', () => {
    const { parts, warnings } = partsOf(foreign({ type: 'hologram' }), foreign({ type: 'file', file: {} }))
    expect(parts).toEqual([])
    expect(warnings).toEqual([
      'Content part types `hologram` and `file` are not supported by gemini and were ignored.',
    ])
  })
})

describe('the tool loop of a Gemini conversation', () => {
  const loop = [
    user(text('Go')),
    output('', call('a', 'first'), call('b', 'second')),
    result('a', '{"y":2}'),
    result('b', 'wet'),
  ]
  const stepsOf = (model?: string, kind?: string) => render(loop, model, kind).body.contents.slice(1)

  test('has parallel results in one turn, by name and id, as objects', () => {
    expect(stepsOf()).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'first', args: { x: 1 } } },
          { functionCall: { id: 'b', name: 'second', args: { x: 1 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'first', response: { y: 2 } } },
          { functionResponse: { id: 'b', name: 'second', response: { output: 'wet' } } },
        ],
      },
    ])
  })

  test('has no ids at Vertex', () => {
    expect(JSON.stringify(stepsOf(undefined, 'vertex'))).not.toContain('"id"')
  })

  test('has results before the text of the user, and images of results after them', () => {
    const image: Part = { type: 'image', url: 'data:image/png;base64,QUJD' }
    const seen: Message = { role: 'tool', callId: 'a', parts: [text('seen'), image] }
    const messages = [
      user(text('Go')),
      output('', call('a', 'first'), call('b', 'second')),
      seen,
      result('b', 'wet'),
    ]
    const parts = render([...messages, user(text('Well?'))]).body.contents[2].parts
    expect(parts.map((part: object) => Object.keys(part)[0])).toEqual([
      'functionResponse',
      'functionResponse',
      'inlineData',
      'text',
    ])
  })

  test('sends the signature back with its call, and no state of another provider', () => {
    const signed = call('a', 'first', { state: { thoughtSignature: 'c2ln', reasoning_content: 'Hm' } })
    const foreign = call('b', 'second', { state: { reasoning_content: 'Hm' } })
    const [, model] = render([user(text('Go')), output('', signed, foreign)]).body.contents
    expect(model.parts[0].thoughtSignature).toBe('c2ln')
    expect(JSON.stringify(model)).not.toContain('Hm')
  })

  test('signs the first call of each step of the current turn for Gemini 3 only, with a warning', () => {
    const messages = [
      ...loop,
      output('Done'),
      user(text('Again')),
      output('', call('c', 'first'), call('d', 'second')),
    ]
    const signatures = (model: string) =>
      render([...messages, result('c', ''), result('d', '')], model).body.contents.flatMap(
        (turn: { parts: { functionCall?: object; thoughtSignature?: string }[] }) =>
          turn.parts.filter((part) => part.functionCall).map((part) => part.thoughtSignature),
      )
    const fallback = 'skip_thought_signature_validator'
    expect(signatures('gemini-3.5-flash')).toEqual([undefined, undefined, fallback, undefined])
    expect(signatures('gemini-2.5-flash')).toEqual([undefined, undefined, undefined, undefined])
    expect(render(loop, 'gemini-3.5-flash').warnings).toHaveLength(1)
    expect(render(loop).warnings).toEqual([])
  })

  test('accepts arguments and results that are not objects, or deeply nested', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const calls = [call('a', 'f', { arguments: '' }), call('b', 'f', { arguments: '[1]' })]
    const { body, warnings } = render([
      user(text('Go')),
      output('', ...calls),
      result('a', deep),
      result('b', '7'),
    ])
    const [, model, results] = body.contents
    expect(model.parts.map((part: { functionCall: { args: object } }) => part.functionCall.args)).toEqual([
      {},
      { arguments: '[1]' },
    ])
    expect(results.parts[0].functionResponse.response).toEqual({ output: deep })
    expect(results.parts[1].functionResponse.response).toEqual({ output: '7' })
    expect(warnings).toHaveLength(1)
  })

  test('matches a result to the last call of a repeated id', () => {
    const { body } = render([
      user(text('Go')),
      output('', call('call_0', 'first')),
      result('call_0', 'a'),
      output('', call('call_0', 'second')),
      result('call_0', 'b'),
    ])
    const names = body.contents.flatMap((turn: { parts: { functionResponse?: { name: string } }[] }) =>
      turn.parts.flatMap((part) => part.functionResponse?.name ?? []),
    )
    expect(names).toEqual(['first', 'second'])
  })

  test('sends a result without its call as text, with a warning', () => {
    const { body, warnings } = render([user(text('Go')), result('lost', 'wet')])
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'Go' }, { text: 'wet' }] }])
    expect(warnings).toHaveLength(1)
  })
})

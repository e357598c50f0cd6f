import { describe, expect, test } from 'bun:test'
import { parsedReply } from './support/parsed-reply.ts'
import { eventsOf, protocolNamed } from './support/chunks.ts'

type Rest = { finish?: string; index?: number; usage?: object }

function piece(parts: readonly object[], { finish, index, usage }: Rest = {}): object {
  const candidate = { content: { parts, role: 'model' }, finishReason: finish, index }
  return { candidates: [candidate], usageMetadata: usage }
}

const text = (words: string, rest?: Rest) => piece([{ text: words }], rest)
const read = (...chunks: (object | string)[]) => parsedReply(eventsOf('gemini', ...chunks))
const stop = text('', { finish: 'STOP' })

describe('the end of a Gemini stream', () => {
  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['OTHER', 'content_filter'],
  ])('at %s is %s', (word, reason) => {
    expect(read(text('Hi', { finish: word })).choices[0]?.finish).toBe(reason)
  })

  test('is a failure where no finish reason arrived', () => {
    const reply = read(text('Hi'))
    expect(reply.failures).toHaveLength(1)
    expect(reply.choices).toMatchObject([{ text: 'Hi' }])
    expect(reply.choices[0]?.finish).toBeUndefined()
  })

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])(
    'is a retryable failure at %s, after the text and the usage',
    (word) => {
      const usage = { promptTokenCount: 4, candidatesTokenCount: 2 }
      const events = eventsOf('gemini', text('Hi'), piece([], { finish: word, usage }), stop)
      expect(events.map((event) => event.type)).toEqual(['text', 'ending', 'usage', 'failure'])
      expect(events.at(-1)).toMatchObject({ error: { code: word, detected: true } })
    },
  )

  test('stays length for a reply with tool calls', () => {
    const call = piece([{ functionCall: { name: 'f' } }])
    expect(read(call, text('', { finish: 'MAX_TOKENS' })).choices[0]?.finish).toBe('length')
    expect(read(call, stop).choices[0]?.finish).toBe('tool_calls')
  })

  test('follows all candidates, each with its own reason', () => {
    const second = text('Ho', { index: 1, finish: 'MAX_TOKENS' })
    const events = eventsOf('gemini', text('Hi', { index: 0 }), second, stop)
    expect(events.map((event) => event.type)).toEqual([
      'text',
      'text',
      'ending',
      'ending',
      'finish',
      'finish',
    ])
    expect(parsedReply(events).choices).toMatchObject([
      { text: 'Hi', finish: 'stop' },
      { text: 'Ho', finish: 'length' },
    ])
  })

  test('is a failure when one of two candidates was not finished', () => {
    const events = eventsOf('gemini', text('Hi'), text('Ho', { index: 1 }), stop)
    expect(events.map((event) => event.type)).toEqual(['text', 'text', 'ending', 'failure'])
  })

  test('is content_filter without output where the prompt was blocked', () => {
    const body = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } }
    for (const events of [eventsOf('gemini', body), protocolNamed('gemini').parse(body)]) {
      expect(events.map((event) => event.type)).toEqual(['usage', 'finish'])
      expect(parsedReply(events).choices).toMatchObject([{ text: '', finish: 'content_filter' }])
    }
  })

  test('of a complete body needs no marker', () => {
    const events = protocolNamed('gemini').parse(text('Hi'))
    expect(parsedReply(events).choices).toMatchObject([{ text: 'Hi', finish: 'stop' }])
  })
})

describe('the tool calls of a Gemini reply', () => {
  const call = (fields: object, rest: object = {}) => ({ functionCall: { name: 'f', ...fields }, ...rest })

  test('get an id where they have none or a duplicate one', () => {
    const parts = [call({ id: 'a' }), call({ id: 'a' }), call({})]
    const ids = read(piece(parts, { finish: 'STOP' })).choices[0]?.ids ?? []
    expect(ids[0]).toBe('a')
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toMatch(/^call_\w{24}$/)
  })

  test('carry the signature beside them, and only those', () => {
    const parts = [call({ args: { x: 1 } }, { thoughtSignature: 'c2ln' }), call({})]
    const calls = eventsOf('gemini', piece(parts), stop).filter((event) => event.type === 'tool-call')
    expect(calls.map((event) => event.state)).toEqual([{ thoughtSignature: 'c2ln' }, undefined])
    expect(calls.map((event) => event.call.arguments)).toEqual(['{"x":1}', '{}'])
  })
})

describe('the metadata of a Gemini reply', () => {
  const counts = { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 13 }

  test('has the last token counts, never a sum', () => {
    const usage = { ...counts, candidatesTokenCount: 6, thoughtsTokenCount: 4, cachedContentTokenCount: 30 }
    const reply = read(text('a', { usage: counts }), text('b', { finish: 'STOP', usage }))
    expect(reply.usage).toEqual({
      promptTokens: 10,
      completionTokens: 10,
      reasoningTokens: 4,
      cachedTokens: 10,
    })
  })

  test('counts the prompt tokens of provider tools as prompt, and audio separately', () => {
    const promptTokensDetails = [
      { modality: 'TEXT', tokenCount: 4 },
      { modality: 'AUDIO', tokenCount: 6 },
    ]
    const usage = { ...counts, toolUsePromptTokenCount: 5, promptTokensDetails }
    const reply = read(text('a', { finish: 'STOP', usage }))
    expect(reply.usage).toMatchObject({ promptTokens: 15, promptAudioTokens: 6 })
  })

  test.each<[object, ('default' | 'priority' | null)[]]>([
    [{ serviceTier: 'standard' }, ['default']],
    [{ serviceTier: 'priority' }, ['priority']],
    [{ trafficType: 'ON_DEMAND_FLEX' }, [null]],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, ['priority']],
    [{}, []],
  ])('has the tier of %p once', (usage, tiers) => {
    const events = eventsOf('gemini', text('a', { usage }), text('b', { usage, finish: 'STOP' }))
    expect(events.flatMap((event) => (event.type === 'tier' ? [event.tier] : []))).toEqual(tiers)
  })
})

describe('an error of Gemini', () => {
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' },
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
  ]
  const error = { code: 400, message: 'Not so.', status: 'INVALID_ARGUMENT', details }
  const complaint = {
    message: 'Not so.',
    status: 400,
    type: 'INVALID_ARGUMENT',
    code: 'API_KEY_INVALID',
    retryAfter: 12.5,
  }

  test('has its reason and its retry delay, also from a list', () => {
    expect(protocolNamed('gemini').parseError({ error })).toEqual(complaint)
    expect(protocolNamed('gemini').parseError([{ error }])).toEqual(complaint)
  })

  test('in a stream ends it', () => {
    const events = eventsOf('gemini', text('Hi'), { error }, stop)
    expect(events.map((event) => event.type)).toEqual(['text', 'failure'])
    expect(events.at(-1)).toEqual({ type: 'failure', error: complaint })
  })
})

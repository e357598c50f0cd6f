import { describe, expect, test } from 'bun:test'
import { openaiCompletions } from '../../../../src/providers/protocols/openai-completions.ts'
import { readStream } from './support/parsed-reply.ts'
import { cutsOf, randomFrom } from './support/random.ts'

const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (
  index: number,
  text: string,
  finish_reason: string | null = null,
  logprobs: object | null = null,
) => frame({ choices: [{ index, text, finish_reason, logprobs }] })

const logprobs = { tokens: ['水'], token_logprobs: [-0.5], text_offset: [0] }
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const body = Buffer.from(
  chunk(0, '水', null, logprobs) +
    chunk(1, 'gate') +
    ': comment\n\n' +
    chunk(0, '位 🌊', 'stop') +
    chunk(1, '', 'length') +
    frame({ choices: [], usage }) +
    'data: [DONE]\n\n',
)

const complete = [
  { type: 'text', choice: 0, text: '水' },
  { type: 'logprobs', choice: 0, logprobs },
  { type: 'text', choice: 1, text: 'gate' },
  { type: 'text', choice: 0, text: '位 🌊' },
  { type: 'ending', choice: 0 },
  { type: 'ending', choice: 1 },
  { type: 'usage', usage: expect.objectContaining({ promptTokens: 3, completionTokens: 4 }) },
  { type: 'finish', choice: 0, reason: 'stop' },
  { type: 'finish', choice: 1, reason: 'length' },
]

describe('a streamed completion', () => {
  test('has the texts, their log probabilities, the usage and the finish of each choice', () => {
    expect<unknown>(readStream(openaiCompletions, body)).toEqual(complete)
  })

  test('is the same however its bytes are cut', () => {
    const random = randomFrom('openai-completions')
    for (let round = 0; round < 50; round++)
      expect<unknown>(readStream(openaiCompletions, body, cutsOf(body, random))).toEqual(complete)
  })

  test('is never complete where it is truncated', () => {
    const ended = body.indexOf('"length"') + '"length"'.length
    for (let length = 0; length < ended; length++) {
      const events = readStream(openaiCompletions, body.subarray(0, length))
      expect(events.at(-1)?.type).toBe('failure')
      expect(events.some(({ type }) => type === 'finish')).toBe(false)
    }
  })

  test.each([
    ['an error object', frame({ error: { message: 'The machine was lost.', code: 503 } })],
    ['an error event', 'event: error\ndata: {"message":"The machine was lost."}\n\n'],
    ['an error in a choice', frame({ choices: [{ index: 0, text: '', finish_reason: 'error' }] })],
    ['broken data', 'data: {"choices"\n\n'],
  ])('ends with a failure at %s, and ignores what follows', (_, text) => {
    const events = readStream(openaiCompletions, Buffer.from(chunk(0, 'a') + text + chunk(0, 'b', 'stop')))
    expect(events.map(({ type }) => type)).toEqual(['text', 'failure'])
  })

  test('has a bounded number of choices', () => {
    const events = readStream(openaiCompletions, Buffer.from(chunk(1e9, 'a', 'stop')))
    expect(events.at(-1)).toEqual({ type: 'finish', choice: 0, reason: 'stop' })
  })
})

describe('a completion that is not streamed', () => {
  test('has the events of its choices', () => {
    const choices = [
      { index: 0, text: 'a', logprobs, finish_reason: 'content_filter' },
      { index: 1, text: '', logprobs: { tokens: [] } },
    ]
    expect<unknown>(openaiCompletions.parse({ choices, usage })).toEqual([
      { type: 'text', choice: 0, text: 'a' },
      { type: 'logprobs', choice: 0, logprobs },
      { type: 'usage', usage: expect.objectContaining({ promptTokens: 3 }) },
      { type: 'finish', choice: 0, reason: 'content_filter' },
      { type: 'finish', choice: 1, reason: 'stop' },
    ])
  })

  const invalid = [
    null,
    undefined,
    [],
    'text',
    {},
    { choices: [] },
    { error: 'no' },
    { choices: [null], error: {} },
    { choices: [{ text: 'a', finish_reason: 'error' }] },
  ]

  test.each(invalid.map((value) => [JSON.stringify(value), value] as const))(
    'is a failure for %s',
    (_, value) => {
      expect(openaiCompletions.parse(value).at(-1)?.type).toBe('failure')
    },
  )
})

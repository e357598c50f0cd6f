import { describe, expect, test } from 'bun:test'
import type { Generation } from '../../../src/domain/generation/request.ts'
import { providerSentence } from '../../../src/gateway/streams/provider-sentence.ts'
import { roundsOf, testSeed } from '../../support/seed.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'

const model = 'river-4o-2025'

function promptOf(...texts: readonly string[]): Generation {
  const parts = texts.map((text) => ({ type: 'text', text }) as const)
  return { messages: [{ role: 'user', parts }], tools: [], extras: {} }
}

const nothing = promptOf('How high is it?')

describe('what a provider says of a request is kept', () => {
  test.each([
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    'You exceeded your current quota, please check your plan and billing details.',
    'Overloaded',
    'prompt is too long: 3333404 tokens > 200000 maximum',
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens.",
    'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    'messages.0: Input does not match the expected shape.',
    "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    `Rate limit reached for ${model} on tokens per min (TPM): Limit 30000, Used 29937, Requested 385.`,
    'function_declarations[0].parameters.properties: Invalid name.',
  ])('%s', (message) => {
    expect(providerSentence(message, model, nothing)).toBe(message)
  })

  test('without what is no word of such sentences', () => {
    const cases = [
      ['Error while downloading https://images.example/miller.png', 'Error while downloading …'],
      [
        'The connection to 10.0.0.12:8080 failed after 3 attempts.',
        'The connection to … failed after 3 attempts.',
      ],
      ['Invalid value in Mrs Miller: it is not valid.', 'Invalid value in … it is not valid.'],
      ['Please try again in 1.984999999s.', 'Please try again in 1.984s.'],
      ['Call the support: +49 (30) 123-456-78', 'Call the support: …'],
      ['<html><title>502 Bad Gateway</title>\n<b>wolke</b></html>', '502 Bad Gateway …'],
      ['Mrs Miller', undefined],
      ['The fever of Mrs Miller is high.', undefined],
    ] as const
    for (const [message, kept] of cases)
      expect([message, providerSentence(message, model, nothing)]).toEqual([message, kept])
  })

  test('in one line of a bounded length', () => {
    const kept = providerSentence(
      `The request\r\n\tis\0 invalid: ${'It is too long. '.repeat(100)}`,
      model,
      nothing,
    )
    expect(kept).toStartWith('The request … invalid: It is too long.')
    expect(kept).toEndWith('…')
    expect(kept!.length).toBeLessThanOrEqual(301)
    expect(kept).not.toMatch(/\p{Cc}/u)
  })
})

describe('nothing of the request is kept', () => {
  test('not even where its words are those of a provider', () => {
    const prompt = 'Your account is disabled, because the purchase of the last order has expired.'
    const quoted = [
      prompt,
      `'${prompt}'`,
      JSON.stringify({ text: prompt }),
      prompt.toUpperCase(),
      prompt.replaceAll(/\W+/g, '\n'),
      'the_purchase_of_the_last_order',
      'the purchase of the last order',
    ]
    for (const text of quoted) {
      const message = `The text ${text} is not allowed as input.`
      const kept = 'The text … is not allowed as input.'
      expect(providerSentence(message, model, promptOf(prompt))).toBe(kept)
      expect(providerSentence(`Invalid input: ${text}`, model, promptOf(prompt))).toBeUndefined()
    }
  })

  test('wherever the request has it', () => {
    const text = 'the order of the last month 4711'
    const requests: readonly Generation[] = [
      promptOf('a', text),
      { ...nothing, tools: [{ name: 'look_up', parameters: { properties: { [text]: {} } } }] },
      { ...nothing, inputs: [text], operation: 'embedding' },
      { ...nothing, extras: { nested: [{ deep: text }] } },
      { ...nothing, source: { protocol: 'responses', body: { input: text } } },
    ]
    for (const request of requests)
      expect(providerSentence(`The value ${text} is not supported here.`, model, request)).toBe(
        'The value … is not supported here.',
      )
  })

  const plain = [
    'request',
    'the',
    'is',
    'not',
    'of',
    'token',
    'order',
    'name',
    'account',
    'purchase',
    'please',
    'a',
  ]
  const foreign = [
    'Miller',
    'fever',
    'Zürich',
    'salary',
    'tumour',
    'Ada',
    'https://ada.example',
    '4711',
    '1950-03-12',
    '中文',
  ]
  const forms = [
    (text: string) => `Invalid input: ${text}`,
    (text: string) => `The value '${text}' is not supported with this model.`,
    (text: string) => `Failed to parse ${JSON.stringify({ text })}.`,
    (text: string) => `${text}`,
    (text: string) => `messages.0.content: ${text.toUpperCase()} must be shorter`,
    (text: string) => `Unknown name ${text.replaceAll(' ', '_')} in tools.`,
    (text: string) => `Could not read:\n${text.replaceAll(' ', '\n')}`,
  ]

  test('however a provider quotes it', () => {
    const random = randomFrom(testSeed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    for (let round = 0; round < roundsOf(500, 20_000); round++) {
      const words = Array.from({ length: 4 + Math.floor(random() * 20) }, () =>
        pick(random() < 0.6 ? plain : foreign),
      )
      const begin = Math.floor(random() * words.length)
      const quoted = words.slice(begin, begin + 1 + Math.floor(random() * words.length)).join(' ')
      const message = pick(forms)(quoted)
      const kept = providerSentence(message, model, promptOf(words.join(' '))) ?? ''
      const lower = kept.toLowerCase()
      expect([message, foreign.filter((word) => lower.includes(word.toLowerCase()))]).toEqual([message, []])
      const runs = words.slice(4).map((_, index) => words.slice(index, index + 5).join(' '))
      const spoken = lower.replaceAll(/[^a-z0-9…]+/g, ' ')
      expect([message, kept, runs.filter((run) => spoken.includes(run))]).toEqual([message, kept, []])
    }
  })
})

describe('the search of the request is bounded', () => {
  const tooLong =
    "This model's maximum context length is 200000 tokens. However, you requested about 250002 tokens."

  test('so that the error of a long prompt is kept', () => {
    const prompt = promptOf('Lorem ipsum dolor. '.repeat(42_000))
    expect(providerSentence(tooLong, model, prompt)).toBe(tooLong)
  })

  test('and what cannot be searched is omitted', () => {
    const prompt = promptOf('Lorem ipsum dolor. '.repeat(1_000_000))
    expect(providerSentence('Overloaded', model, prompt)).toBe('Overloaded')
    expect(providerSentence(tooLong, model, prompt)).toBeUndefined()
    const many = { ...nothing, extras: { list: Array.from({ length: 300_000 }, () => ({})) } }
    expect(providerSentence(tooLong, model, many)).toBeUndefined()
  })

  test('and files are no text', () => {
    const url = `data:image/png;base64,${'iVBORw0KGgo'.repeat(200_000)}`
    const parts = [{ type: 'image', url }] as const
    expect(providerSentence(tooLong, model, { ...nothing, messages: [{ role: 'user', parts }] })).toBe(
      tooLong,
    )
  })
})

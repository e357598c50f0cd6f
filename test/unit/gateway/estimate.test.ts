import { describe, expect, test } from 'bun:test'
import type { Generation, Part } from '../../../src/domain/generation/request.ts'
import { conservativeTokens } from '../../../src/gateway/billing/estimate.ts'
import { conservativePromptTokens, maxPromptTokens } from '../../../src/gateway/billing/prompt-tokens.ts'
import { textsOf, tokensIn } from '../../reliability/money/support/texts.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'
import { kindNamed, modelsWith, provider, providersOf } from './support/model-fixtures.ts'

const texts = textsOf(randomFrom('cautious'), 4000)

describe.each(Object.entries(texts))('the conservative token count of %s', (_, text) => {
  test('is hardly less than the tokens of the text, and never more than its bytes', () => {
    const tokens = tokensIn(text)
    expect(conservativeTokens(text) / tokens).toBeGreaterThanOrEqual(0.95)
    expect(conservativeTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text))
  })

  test('of a prefix is hardly less either, wherever it is cut', () => {
    for (const end of [40, 100, 333, 1000]) {
      const part = text.slice(0, end)
      expect(conservativeTokens(part) / tokensIn(part)).toBeGreaterThanOrEqual(0.93)
    }
  })
})

test.each(['English', 'code', 'Chinese', 'Japanese', 'Korean'])(
  'the conservative token count of %s is about twice its tokens at most',
  (kind) => {
    const text = texts[kind] ?? ''
    expect(conservativeTokens(text) / tokensIn(text)).toBeLessThan(2.25)
  },
)

const model = { contextWindow: undefined, routes: [] }
const image: Part = { type: 'image', url: 'data:image/png;base64,QUJD' }

function requesting(...parts: Part[]): Generation {
  return { messages: [{ role: 'user', parts }], tools: [], extras: {} }
}

describe('the maximum tokens of a prompt', () => {
  test.each(Object.entries(texts))('are never less than those of %s', (_, text) => {
    expect(maxPromptTokens(requesting({ type: 'text', text }), model)).toBeGreaterThan(tokensIn(text))
  })

  const plain = requesting({ type: 'text', text: 'abcd' })
  const big = 'x'.repeat(1000)
  const call = { id: 'call_1', name: 'read', arguments: big }
  test.each<[string, Generation]>([
    ['a tool', { ...plain, tools: [{ name: 'read', description: big }] }],
    ['the schema of a tool', { ...plain, tools: [{ name: 'read', parameters: { title: big } }] }],
    [
      'the schema of the answer',
      { ...plain, format: { type: 'json_schema', name: 'a', schema: { title: big } } },
    ],
    ['an earlier call', { ...plain, messages: [{ role: 'assistant', parts: [], toolCalls: [call] }] }],
    [
      'what a provider wants back with it',
      {
        ...plain,
        messages: [
          { role: 'assistant', parts: [], toolCalls: [{ ...call, arguments: '', state: { thinking: big } }] },
        ],
      },
    ],
    ['a property that no interface names', { ...plain, extras: { documents: [big] } }],
    [
      'one of a message',
      { ...plain, messages: [{ role: 'user', parts: [], extras: { reasoning_content: big } }] },
    ],
    ['a name', { ...plain, messages: [{ role: 'user', parts: [], name: big }] }],
    ['a refusal', requesting({ type: 'foreign', value: { type: 'refusal', refusal: big } })],
  ])('count %s', (_, generation) => {
    expect(maxPromptTokens(generation, model)).toBeWithin(1000, 3000)
  })

  test('are the context window for a file, whose size is unknown', () => {
    const file = requesting({ type: 'foreign', value: { type: 'file', file: { file_id: 'f' } } })
    expect(maxPromptTokens(file, { ...model, contextWindow: 200_000 })).toBe(200_000)
    expect(maxPromptTokens(file, model)).toBeGreaterThanOrEqual(1_000_000)
    expect(conservativePromptTokens(file, { ...model, contextWindow: 200_000 })).toBe(200_000)
  })

  test('are never more than the context window', () => {
    const long = requesting({ type: 'text', text: 'x'.repeat(5000) })
    expect(maxPromptTokens(long, { ...model, contextWindow: 4096 })).toBe(4096)
  })

  test.each([
    ['anthropic', 'claude-sonnet-5', 4784],
    ['gemini', 'gemini-3.5-flash', 4128],
    ['openai', 'gpt-5.4', 12_000],
    ['openai', 'gpt-5.4-mini', 24_600],
    ['openai-compatible', 'gpt-4o-mini', 48_169],
    ['openai-compatible', 'qwen3-vl', 16_384],
  ])('for an image on %s, %s, are the documented %d', (kind, name, tokens) => {
    const places = providersOf(provider('alpha', { kind: kindNamed(kind) }))
    const routes = [{ provider: 'alpha', model: name }]
    const found = modelsWith([{ slug: 'a/b', routes }], { providers: places }).find('a/b')
    const of = (...parts: Part[]) => maxPromptTokens(requesting(...parts), found!)
    expect(of(image) - of()).toBe(tokens)
  })
})

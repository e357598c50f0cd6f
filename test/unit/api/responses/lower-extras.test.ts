import { expect, test } from 'bun:test'
import { lowered } from './support/lower-fixtures.ts'

test('unknown properties with the same meaning everywhere are passed on unchanged', () => {
  const extras = { top_k: 5, min_p: 0.1, prompt_cache_key: 'a', chat_template_kwargs: { a: [1] } }
  const { generation, warnings } = lowered(extras)
  expect(generation.extras).toEqual(extras)
  expect(warnings).toEqual([])
})

test('the verbosity of the text is that of the request', () => {
  expect(lowered({ text: { verbosity: 'low' }, top_k: 5 }).generation.extras).toEqual({
    top_k: 5,
    verbosity: 'low',
  })
  expect(lowered({ verbosity: 'high' }).generation.extras).toEqual({ verbosity: 'high' })
  expect(lowered({ verbosity: 'high', text: { verbosity: 'low' } }).generation.extras).toEqual({
    verbosity: 'low',
  })
})

const ignored = {
  conversation: 'conv_1',
  prompt: { id: 'pmpt_1' },
  messages: [],
  max_tokens: 5,
  stop: ['a'],
  n: 2,
  frequency_penalty: 1,
  top_logprobs: 3,
  logprobs: true,
  performance_mode: 'fast',
  reasoning_effort: 'high',
  functions: [{ name: 'f' }],
  service_tier: 'scale',
  background_options: { completion_window: '2h' },
}

test.each(Object.entries(ignored))('%s is ignored with a warning', (name, value) => {
  const { generation, warnings } = lowered({ [name]: value })
  expect(warnings).toEqual([`Parameter \`${name}\` is not supported and was ignored.`])
  expect(generation).toEqual(lowered({}).generation)
})

test.each([
  { n: 1 },
  { frequency_penalty: 0 },
  { presence_penalty: 0 },
  { top_logprobs: 0 },
  { logprobs: false },
  { performance_mode: 'standard' },
  { max_tool_calls: 3 },
  { stream_options: { include_obfuscation: false } },
  { truncation: 'disabled' },
  { include: [] },
  { store: true, metadata: { a: 1 }, tags: ['a'], trace: { id: 'a' } },
])('%j changes nothing and causes no warning', (patch) => {
  expect(lowered(patch)).toEqual(lowered({}))
})

test.each(['auto', 'default', 'flex', 'priority'])('the tier %s is requested', (tier) => {
  const { generation, warnings } = lowered({ service_tier: tier })
  expect([generation.serviceTier, warnings]).toEqual([tier as never, []])
})

test('a tier that is a number is ignored like an unknown one', () => {
  const { generation, warnings } = lowered({ service_tier: 5 })
  expect(generation.serviceTier).toBeUndefined()
  expect(generation.extras).toEqual({})
  expect(warnings).toHaveLength(1)
})

test('truncation that does not happen has a warning', () => {
  expect(lowered({ truncation: 'auto' }).warnings).toEqual([
    'Parameter `truncation` is not supported and was ignored.',
  ])
})

test('an unknown include is named, up to a maximum length', () => {
  expect(lowered({ include: ['file_search_call.results', 'a', 'a'] }).warnings).toEqual([
    'Include values `file_search_call.results` and `a` are not supported and were ignored.',
  ])
  const many = lowered({ include: Array.from({ length: 5000 }, (_, index) => `${index} `.repeat(100)) })
  expect(many.warnings).toHaveLength(1)
  expect(many.warnings[0]!.length).toBeLessThan(600)
  expect(many.warnings[0]).toEndWith(' and 4,992 others are not supported and were ignored.')
})

test('the state of the reasoning can be included', () => {
  expect(lowered({ include: ['reasoning.encrypted_content'] }).warnings).toEqual([])
})

test('a key named __proto__ stays a key', () => {
  const { extras } = lowered(JSON.parse('{"__proto__":{"temperature":9}}')).generation
  expect(Object.getPrototypeOf(extras)).toBe(Object.prototype)
})

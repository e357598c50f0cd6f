import { expect, test } from 'bun:test'
import { cheapProperties, findTooWide } from '../../../src/lib/validation/json-bounds.ts'

function wide(count: number, prefix = 'key_'): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]))
}

const atLimit = wide(cheapProperties + 100)
const overLimit = wide(cheapProperties + 101)
const find = (value: unknown) => findTooWide(JSON.stringify(value), 100)

test('the maximum number of properties is accepted, one more is rejected', () => {
  expect(find(atLimit)).toBeUndefined()
  expect(find(overLimit)).toEqual([])
})

test('the first properties of each object are free, the others of all objects are counted', () => {
  const full = wide(cheapProperties)
  expect(find({ messages: Array.from({ length: 1000 }, () => full) })).toBeUndefined()
  const half = wide(cheapProperties + 51)
  expect(find({ a: half, b: { c: full } })).toBeUndefined()
  expect(find({ a: half, b: { c: half } })).toEqual(['b', 'c'])
})

test('the path names the object with too many properties', () => {
  expect(find({ model: 'a', logit_bias: overLimit })).toEqual(['logit_bias'])
  expect(find({ messages: [{ role: 'user' }, [1, 2], { ...overLimit }] })).toEqual(['messages', 2])
  expect(find([[], ['a,b:c', '"{', { 'a "key"\\': [overLimit] }]])).toEqual([1, 2, 'a "key"\\', 0])
  const deep = JSON.stringify(overLimit)
  expect(findTooWide('{"a":'.repeat(20) + deep + '}'.repeat(20), 100)).toEqual(Array.from('aaaaaaaa'))
})

test('colons, commas and braces inside strings are not properties', () => {
  const text = '{"a":1,"b":2},'.repeat(1000)
  expect(find({ text, [text]: [text] })).toBeUndefined()
  expect(find({ text: '\\"'.repeat(1000) + ':'.repeat(1000) })).toBeUndefined()
  expect(find({ text, more: overLimit })).toEqual(['more'])
})

test('white space around colons hides no property', () => {
  expect(findTooWide(JSON.stringify({ a: overLimit }, null, '\t').replaceAll(':', ' \n: '), 100)).toEqual([
    'a',
  ])
})

test('a repeated key counts each time', () => {
  expect(findTooWide(`{"a":{${'"":1,'.repeat(cheapProperties + 101)}"":1}}`, 100)).toEqual(['a'])
})

test('a text that is not JSON has a result too', () => {
  const colons = ':'.repeat(1000)
  for (const text of [colons, `]]]]${colons}`, `"${colons}`, `{"a${colons}`, `[${colons}`, `{${colons}}`])
    expect([undefined, 'object']).toContain(findTooWide(text, 100) && 'object')
})

test('millions of properties are found without reading them all', () => {
  const text = `{"messages":[{"role":"user"},{"content":"a",${'"key":1,'.repeat(3_000_000)}"end":1}]}`
  expect(findTooWide(text, 16_384)).toEqual(['messages', 1])
})

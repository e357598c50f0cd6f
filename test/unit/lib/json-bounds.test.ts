import { describe, expect, test } from 'bun:test'
import {
  cheapProperties,
  findTooWide,
  isTooDeep,
  measureJson,
  stringEnd,
  weights,
} from '../../../src/lib/validation/json-bounds.ts'

const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)

test('the maximum depth is accepted, one level more is rejected', () => {
  expect(isTooDeep(arrays(10), 10)).toBe(false)
  expect(isTooDeep(arrays(11), 10)).toBe(true)
  expect(isTooDeep(objects(10), 10)).toBe(false)
  expect(isTooDeep(objects(11), 10)).toBe(true)
  expect(isTooDeep(`${'{"a":['.repeat(5)}{`, 10)).toBe(true)
})

test('brackets beside each other do not add depth', () => {
  expect(isTooDeep(JSON.stringify(Array.from({ length: 1000 }, () => ({ a: [1] }))), 3)).toBe(false)
  expect(isTooDeep(JSON.stringify(Array.from({ length: 1000 }, () => ({ a: [1] }))), 2)).toBe(true)
})

test('brackets inside strings do not add depth, however the strings are escaped', () => {
  for (const text of ['[[[[', '"[[[[', '\\"[[[[', '\\', '\\\\"[[{{', '日本[[[["'])
    expect(isTooDeep(JSON.stringify({ [text]: text, other: [text] }), 2)).toBe(false)
  expect(isTooDeep(JSON.stringify({ text: '\\', deep: [[['\\']]] }), 3)).toBe(true)
})

test('a text that ends inside a string or is not JSON has a depth too', () => {
  for (const text of ['', '"', '"\\', '["[[[[', ']]]]', '{"a', '\\\\\\"'])
    expect(isTooDeep(text, 2)).toBe(false)
  expect(isTooDeep('[[["', 2)).toBe(true)
})

test('extreme depth is rejected without a stack overflow', () => {
  expect(isTooDeep(arrays(1_000_000), 1000)).toBe(true)
  expect(isTooDeep('[{"a":'.repeat(500_000), 1000)).toBe(true)
  // What the limit allows can be written again.
  expect(JSON.stringify(JSON.parse(objects(1000)))).toHaveLength(objects(1000).length)
})

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

const { container, string, value } = weights
const weigh = (text: string) => measureJson(text, {}).weight

describe('the weight of a JSON text', () => {
  test.each([
    ['an empty object', '{}', container],
    ['an array of numbers', '[1,2,3]', container + 2 * value],
    ['nested arrays', '[[],[[]]]', 4 * container + value],
    ['an object', '{"a":"b","c":1}', container + 3 * string + value],
    ['text with brackets and commas in it', '["{[,,\\"[{,"]', container + string],
    ['no JSON', ']:]:]:', 0],
  ])('counts the values of %s', (_, text, expected) => {
    expect(weigh(text)).toBe(expected)
  })

  test('does not count the length of strings', () => {
    expect(weigh(JSON.stringify({ text: 'x,[{'.repeat(100_000) }))).toBe(container + 2 * string)
  })

  test('counts up to the limit, and names what exceeds it', () => {
    const messages = Array.from({ length: 1000 }, () => ({ role: 'user' }))
    const text = JSON.stringify({ model: 'a', messages })
    const weight = weigh(text)
    expect(measureJson(text, { maxWeight: weight })).toEqual({ weight })
    expect(measureJson(text, { maxWeight: weight - 1 })).toMatchObject({ broken: 'weight' })
    const half = measureJson(text, { maxWeight: weight / 2 })
    expect(half).toMatchObject({ broken: 'weight', path: expect.arrayContaining(['messages']) })
    expect(half.weight).toBeLessThanOrEqual(weight / 2 + container)
  })
})

test('the first limit that a text exceeds is reported', () => {
  const deep = '['.repeat(20)
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [index, 1])))
  const limits = { maxDepth: 10, maxProperties: 100, maxWeight: 10_000 }
  expect(measureJson(`[${wide},${deep}`, limits).broken).toBe('properties')
  expect(measureJson(`[${deep},${wide}`, limits).broken).toBe('depth')
  expect(measureJson(`[${'1,'.repeat(20_000)}${deep}`, limits).broken).toBe('weight')
})

test('a text with more closing than opening brackets is not counted further', () => {
  expect(measureJson(`[]]${'[],'.repeat(1000)}`, {})).toEqual({ weight: container })
})

test('a string ends at its last quote, whatever is escaped in it', () => {
  const parts = ['"', '\\', '\n', 'a', '日', 'a'.repeat(15), 'a'.repeat(16), '\\'.repeat(17), ', '.repeat(20)]
  for (let seed = 0; seed < 5000; seed++) {
    const chosen = Array.from(
      { length: seed % 9 },
      (_, index) => parts[(seed * 7 ** index + index) % parts.length],
    )
    const text = JSON.stringify(chosen.join(''))
    expect(stringEnd(`${text},"other"`, 0)).toBe(text.length - 1)
    expect(stringEnd(text.slice(0, -1), 0)).toBe(text.length - 1)
  }
})

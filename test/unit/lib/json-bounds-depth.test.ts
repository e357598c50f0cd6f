import { expect, test } from 'bun:test'
import { isTooDeep } from '../../../src/lib/validation/json-bounds.ts'

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

import { describe, expect, test } from 'bun:test'
import { measureJson, weights } from '../../../src/lib/validation/json-bounds.ts'

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

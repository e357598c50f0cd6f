import { expect, test } from 'bun:test'
import { emptyScan, isClosed, parseList, scanPiece } from '../../../src/lib/json/json-text.ts'

const scanOf = (...pieces: string[]) => pieces.reduce(scanPiece, emptyScan)

test.each([
  '{}',
  ' {"a": [1, {"b": "}"}]}\n',
  '[]',
  '["\\"]", "\\\\"]',
  '{"a":"{[","b":null}',
  '[[[]]]',
  '{"é 🌊":"\\u007d"}',
])('the text %p is complete at its end and nowhere before, however it is split', (text) => {
  const end = text.trimEnd().length
  for (let length = 0; length <= text.length; length++) {
    expect(isClosed(scanOf(text.slice(0, length)))).toBe(length >= end)
    expect(scanOf(text.slice(0, length), text.slice(length))).toEqual(scanOf(text))
  }
  expect(scanOf(...text)).toEqual(scanOf(text))
})

test.each(['', ' ', '{', '"{}"', 'null', '7', '{}{', '{} x', '[1', '{"a":"}', 'x{}', ']'])(
  'the text %p is not complete',
  (text) => {
    expect(isClosed(scanOf(text))).toBe(false)
  },
)

const long = 'x'.repeat(600_000)

test.each<[string, unknown[]]>([
  ['a short list', [1, 'a', null, { b: [] }]],
  ['no element', []],
  ['elements beyond one slice', [long, { a: [long, ',]}"\\'] }, [[], {}], 1, true, null, '"\\"', '\\', long]],
  ['one element', [{ long }]],
  ['many elements', Array.from({ length: 100_000 }, (_, index) => ({ id: `msg_${index}`, content: '[{"' }))],
])('a list is parsed as JSON.parse would: %s', async (_, list) => {
  expect(await parseList(JSON.stringify(list))).toEqual(list)
  const spaced = JSON.stringify(list, null, 1)
  expect(await parseList(spaced)).toEqual(list)
})

test('an empty list in a long text is empty', async () => {
  expect(await parseList(`[${' '.repeat(2_000_000)}]`)).toEqual([])
})

test('other work runs between the slices of a long list', async () => {
  const text = JSON.stringify(Array.from({ length: 20 }, () => 'x'.repeat(200_000)))
  let turns = 0
  const count = () => {
    turns += 1
    waiting = setImmediate(count)
  }
  let waiting = setImmediate(count)
  await parseList(text)
  clearImmediate(waiting)
  expect(turns).toBeGreaterThan(3)
})

test('a text that is not JSON rejects', async () => {
  expect(parseList(`["${long}", x]`)).rejects.toThrow()
  expect(parseList('[')).rejects.toThrow()
})

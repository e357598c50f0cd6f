import { expect, test } from 'bun:test'
import { emptyScan, isClosed, scanPiece } from '../../../src/lib/json/json-text.ts'

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

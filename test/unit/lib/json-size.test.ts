import { expect, test } from 'bun:test'
import { jsonExceeds } from '../../../src/lib/json/json.ts'

test.each([
  [null],
  [true],
  [12.5],
  [''],
  ['Wörter "in" Zeilen\n\u0001 日本 🌊 \ud800'],
  [[]],
  [{}],
  [[1]],
  [{ a: 1 }],
  [[1, [2, 'three'], { four: [] }, null]],
  [{ topic: 'rivers', level: 4, deep: { 'a "b"': [1, null, { 水: '位' }] }, none: null }],
])('the JSON size of %j is the number of its bytes', (value) => {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  expect(jsonExceeds(value, bytes)).toBe(false)
  expect(jsonExceeds(value, bytes - 1)).toBe(true)
})

test('the JSON size reads no more than necessary', () => {
  const read: string[] = []
  const value = {
    long: 'a'.repeat(1000),
    get never() {
      read.push('never')
      return 1
    },
  }
  const listed = [value.long, new Proxy({}, { ownKeys: () => (read.push('keys'), []) })]
  expect(jsonExceeds(listed, 100)).toBe(true)
  expect(read).toEqual([])
})

import { expect, test } from 'bun:test'
import { fieldsOf, isObject, listOf, numberOf, parseJson, textOf } from '../../../src/lib/json/json.ts'
import { jsonExceeds } from '../../../src/lib/json/json-size.ts'

test('only a plain object is an object', () => {
  expect(isObject({})).toBe(true)
  for (const other of [null, undefined, [], 'a', 1, true]) expect(isObject(other)).toBe(false)
})

test('a missing value reads as empty', () => {
  const fields = { a: 1 }
  expect(fieldsOf(fields)).toBe(fields)
  expect(listOf([1])).toEqual([1])
  for (const other of [null, undefined, 'a', 1]) {
    expect(fieldsOf(other)).toEqual({})
    expect(listOf(other)).toEqual([])
  }
  expect(fieldsOf([1])).toEqual({})
  expect(listOf({ length: 1 })).toEqual([])
})

test('a non-empty text is a text, and a finite number is a number', () => {
  expect(textOf('a')).toBe('a')
  for (const other of ['', null, 1, ['a']]) expect(textOf(other)).toBeUndefined()
  expect(numberOf(0)).toBe(0)
  for (const other of [Number.NaN, Infinity, '1', null]) expect(numberOf(other)).toBeUndefined()
})

test('a text that is not JSON parses to undefined, and null to null', () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] })
  expect(parseJson('null')).toBeNull()
  for (const text of ['', '{', "{'a':1}", '[1,]', 'undefined', '\ufeff{}'])
    expect(parseJson(text)).toBeUndefined()
})

test('a key named __proto__ stays a key and reaches no prototype', () => {
  const parsed = parseJson('{"__proto__":{"admin":true}}')
  expect(Object.hasOwn(fieldsOf(parsed), '__proto__')).toBe(true)
  expect(fieldsOf(parsed)['admin']).toBeUndefined()
  expect(JSON.stringify({ ...fieldsOf(parsed) })).toBe('{"__proto__":{"admin":true}}')
  expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false)
})

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

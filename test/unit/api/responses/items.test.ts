import { expect, test } from 'bun:test'
import {
  inputItemId,
  inputItems,
  outputItemId,
  responseIdOf,
} from '../../../../src/api/responses/request/items.ts'

const digits = '019a2b3c4d5e7f80a1b2c3d4e5f60718'
const response = `resp_${digits}`

test('a text is one user message', () => {
  expect(inputItems('Hello', response)).toEqual([
    {
      id: `msg_${digits}i0`,
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Hello' }],
    },
  ])
})

test('an item stays unchanged, with a type and an id added', () => {
  const message = { role: 'user', content: 'a', free: [1, { b: null }] } as const
  const foreign = { type: 'telegram', from: 'Ada', id: 7 }
  expect(inputItems([message, foreign], response)).toEqual([
    { ...message, type: 'message', id: `msg_${digits}i0` },
    { ...foreign, id: `item_${digits}i1` },
  ])
  expect(message).toEqual({ role: 'user', content: 'a', free: [1, { b: null }] })
})

test('an existing id stays, an empty one does not', () => {
  const output = { role: 'assistant', content: 'a' } as const
  const ids = inputItems(
    [
      { ...output, id: 'mine' },
      { ...output, id: '' },
    ] as never,
    response,
  ).map(({ id }) => id)
  expect(ids).toEqual(['mine', `msg_${digits}i1`])
})

test.each([[{ id: 'msg_1' }], [{ type: null, id: 'msg_1' }]])('%p is a reference', (item) => {
  expect(inputItems([item], response)).toEqual([{ type: 'item_reference', id: 'msg_1' }])
})

test('an item whose type is null and that has a role is a message', () => {
  const [item] = inputItems([{ type: null, role: 'user', content: 'a' }], response)
  expect(item).toEqual({ type: 'message', id: `msg_${digits}i0`, role: 'user', content: 'a' })
})

test('a key named __proto__ stays a key', () => {
  const [item] = inputItems(JSON.parse('[{"type":"telegram","__proto__":{"role":"system"}}]'), response)
  expect(Object.getPrototypeOf(item)).toBe(Object.prototype)
  expect(JSON.stringify(item)).toContain('"__proto__":{"role":"system"}')
})

test('every id of an item leads back to its response', () => {
  for (const type of ['message', 'reasoning', 'function_call', 'function_call_output', 'telegram', '']) {
    for (const index of [0, 9, 10, 99, 100, 123_456]) {
      const ids = [inputItemId(response, index, type), outputItemId(response, index, type)]
      expect(ids.map(responseIdOf)).toEqual([response, response])
      expect(new Set(ids).size).toBe(2)
    }
  }
})

test('an item id contains the kind of its item', () => {
  expect(outputItemId(response, 0, 'message')).toBe(`msg_${digits}00`)
  expect(outputItemId(response, 12, 'reasoning')).toBe(`rs_${digits}12`)
  expect(inputItemId(response, 3, 'function_call')).toBe(`fc_${digits}i3`)
})

test.each([
  '',
  'msg_1',
  `msg_${digits}`,
  `msg_${digits}0`,
  `msg_${digits}i`,
  `msg_${digits}00x`,
  `x msg_${digits}00`,
  `msg_${digits.toUpperCase()}00`,
  `resp${digits}00`,
  `${digits}00`,
])('%p is not an item id of this gateway', (id) => {
  expect(responseIdOf(id)).toBeUndefined()
})

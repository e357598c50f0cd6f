import { expect, test } from 'bun:test'
import { ApiError } from '../../../../src/lib/errors/errors.ts'
import {
  countReferences,
  type Item,
  maxReferencedResponses,
  maxReferences,
  resolveReferences,
  responseIdsOf,
} from '../../../../src/api/responses/request/items.ts'

const request: Item = { id: 'a', type: 'message', role: 'user', content: 'Why?' }
const reply: Item = { id: 'b', type: 'message', role: 'assistant', content: 'Because.' }
const reference = (id: string): Item => ({ type: 'item_reference', id })

test('the ids of references are found, with the number of their occurrences', () => {
  expect([...countReferences([request, reference('b'), reference('c'), reference('b')])]).toEqual([
    ['b', 2],
    ['c', 1],
  ])
  expect([...countReferences([request, reply])]).toEqual([])
})

test('each response of the ids is named once, and foreign ids are ignored', () => {
  const [one, two] = ['1', '2'].map((digit) => digit.repeat(32))
  const ids = new Set([`msg_${one}00`, `rs_${one}01`, `msg_${two}i3`, 'msg_1', 'a'])
  expect([...responseIdsOf(ids)]).toEqual([`resp_${one}`, `resp_${two}`])
})

test('references to the maximum of responses are resolved, and one more is rejected', () => {
  const ids = Array.from(
    { length: maxReferencedResponses + 1 },
    (_, index) => `msg_${String(index).padStart(32, '0')}00`,
  )
  expect(responseIdsOf(new Set(ids.slice(1))).size).toBe(maxReferencedResponses)
  const { error } = refusalOf(() => responseIdsOf(new Set(ids))).toBody()
  expect(error).toMatchObject({ code: 'array_above_max_length', param: 'input' })
  expect(error.message).toContain('at most 1000 responses, not 1001.')
})

test('each occurrence of a reference counts, and one too many is rejected', () => {
  const many = Array.from({ length: maxReferences }, () => reference('b'))
  expect(countReferences([request, ...many]).get('b')).toBe(maxReferences)
  const { error } = refusalOf(() => countReferences([...many, reference('b')])).toBody()
  expect(error).toMatchObject({ code: 'array_above_max_length', param: 'input' })
  expect(error.message).toContain('at most 10000 item references, not 10001.')
})

test('a reference is replaced by its item in place', () => {
  const found = new Map([['b', reply]])
  const items = [reference('b'), request, reference('b')]
  expect(resolveReferences(items, found)).toEqual([reply, request, reply])
  expect(items).toEqual([reference('b'), request, reference('b')])
})

test('an item is never replaced for having the id of another', () => {
  expect(resolveReferences([request], new Map([['a', reply]]))).toEqual([request])
})

test('a reference to nothing is a 404 with its id, truncated', () => {
  const error = refusalOf(() => resolveReferences([reference('msg_1')], new Map()))
  expect(error.status).toBe(404)
  expect(error.toBody().error).toMatchObject({ type: 'invalid_request_error', param: 'input', code: null })
  expect(error.message).toStartWith("Item with id 'msg_1' not found. ")
  const long = refusalOf(() => resolveReferences([reference('a'.repeat(5000))], new Map()))
  expect(long.message.length).toBeLessThan(300)
})

function refusalOf(act: () => unknown): ApiError {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('Nothing was refused.')
}

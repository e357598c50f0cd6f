import { expect, test } from 'bun:test'
import { type Static, Type } from 'typebox'
import { createValidator } from '../../../src/lib/validation/validator.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'

const Person = Type.Object({ name: Type.String(), age: Type.Optional(Type.Integer({ minimum: 0 })) })
const person = createValidator(Person)

test('a valid value is returned unchanged, including its unknown fields', () => {
  const value = { name: 'Ada', age: 36, extra: { deep: [1] } }
  const result: Static<typeof Person> = person.read(value)
  expect(result).toBe(value)
  expect(value).toEqual({ name: 'Ada', age: 36, extra: { deep: [1] } })
})

test('an invalid value throws the error that the client receives', () => {
  const act = () => person.read({ name: 'Ada', age: -1 })
  expect(act).toThrow(ApiError)
  expect(act).toThrow("Invalid 'age': must be at least 0, not -1.")
})

test('validation converts nothing: a number in a string is not a number', () => {
  expect(() => person.read({ name: 'Ada', age: '36' })).toThrow("must be an integer, not a string ('36')")
  expect(() => person.read({ name: 5 })).toThrow('must be a string, not an integer (5)')
})

test('a contract exposes its schema for the OpenAPI document', () => {
  expect(person.schema).toBe(Person)
  expect(JSON.parse(JSON.stringify(person.schema))).toMatchObject({ type: 'object', required: ['name'] })
})

test('the JSON key __proto__ is a field like any other', () => {
  expect(Object.keys(person.read(JSON.parse('{"name":"Ada","extra":1,"__proto__":{"age":-1}}')))).toEqual([
    'name',
    'extra',
    '__proto__',
  ])
  expect(() => person.read(JSON.parse('{"__proto__":{"name":"Ada"}}'))).toThrow(
    "Missing required parameter: 'name'.",
  )
})

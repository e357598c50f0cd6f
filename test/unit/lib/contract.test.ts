import { expect, test } from 'bun:test'
import { type Static, Type } from 'typebox'
import { createValidator } from '../../../src/lib/validation/validator.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'

const Person = Type.Object({ name: Type.String(), age: Type.Optional(Type.Integer({ minimum: 0 })) })
const person = createValidator(Person)

test('a value that keeps the schema comes back as it is, its unknown fields too', () => {
  const value = { name: 'Ada', age: 36, extra: { deep: [1] } }
  const result: Static<typeof Person> = person.read(value)
  expect(result).toBe(value)
  expect(value).toEqual({ name: 'Ada', age: 36, extra: { deep: [1] } })
})

test('a value that breaks the schema throws the error that the caller reads', () => {
  const act = () => person.read({ name: 'Ada', age: -1 })
  expect(act).toThrow(ApiError)
  expect(act).toThrow("Invalid 'age': must be at least 0, not -1.")
})

test('nothing is converted: a number in a string is no number', () => {
  expect(() => person.read({ name: 'Ada', age: '36' })).toThrow("must be an integer, not a string ('36')")
  expect(() => person.read({ name: 5 })).toThrow('must be a string, not an integer (5)')
})

test('the schema is there for the document of the interface', () => {
  expect(person.schema).toBe(Person)
  expect(JSON.parse(JSON.stringify(person.schema))).toMatchObject({ type: 'object', required: ['name'] })
})

test('what JSON calls __proto__ is a field like any other', () => {
  expect(Object.keys(person.read(JSON.parse('{"name":"Ada","extra":1,"__proto__":{"age":-1}}')))).toEqual([
    'name',
    'extra',
    '__proto__',
  ])
  expect(() => person.read(JSON.parse('{"__proto__":{"name":"Ada"}}'))).toThrow("'name' is required.")
})

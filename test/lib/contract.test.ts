import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'
import { contract } from '../../src/lib/contract.ts'
import { ApiError } from '../../src/lib/errors.ts'

const Person = Type.Object({ name: Type.String(), age: Type.Optional(Type.Integer({ minimum: 0 })) })
const person = contract(Person)
const validate = person['~standard'].validate

test('a value that keeps the schema comes back as it is, its unknown fields too', () => {
  const value = { name: 'Ada', age: 36, extra: { deep: [1] } }
  const result: { readonly value: Static<typeof Person> } = validate(value)
  expect(result.value).toBe(value)
  expect(value).toEqual({ name: 'Ada', age: 36, extra: { deep: [1] } })
})

test('a value that breaks the schema throws the error that the caller reads', () => {
  const act = () => validate({ name: 'Ada', age: -1 })
  expect(act).toThrow(ApiError)
  expect(act).toThrow("Invalid 'age': expected an integer of at least 0, but got -1.")
})

test('nothing is converted: a number in a string is no number', () => {
  expect(() => validate({ name: 'Ada', age: '36' })).toThrow('expected an integer, but got a string')
  expect(() => validate({ name: 5 })).toThrow('expected a string, but got an integer')
})

test('the schema is there for the document of the interface', () => {
  expect(person.schema).toBe(Person)
  expect(JSON.parse(JSON.stringify(person.schema))).toMatchObject({ type: 'object', required: ['name'] })
})

test('a route gives its handler the whole body, and its error hook the error as it was thrown', async () => {
  const app = new Elysia()
    .onError(({ error }) => (error instanceof ApiError ? Response.json(error.toBody()) : undefined))
    .post('/', ({ body }) => ({ name: body.name, keys: Object.keys(body) }), { body: person })
  const post = async (body: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await app.handle(new Request('http://localhost/', { method: 'POST', headers, body }))).json()
  }

  expect(await post('{"name":"Ada","extra":1,"__proto__":{"age":-1}}')).toEqual({
    name: 'Ada',
    keys: ['name', 'extra', '__proto__'],
  })
  const message = "'name' is required."
  const facts = { type: 'invalid_request_error', param: 'name', code: 'missing_required_parameter' }
  expect(await post('{"__proto__":{"name":"Ada"}}')).toEqual({ error: { message, ...facts } })
})

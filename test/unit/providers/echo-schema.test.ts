import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fitsSchema, parseShallowJson } from '../../../src/providers/kinds/echo-schema.ts'
import { type App, startApp } from '../../support/app.ts'
import { readCompletion } from '../../support/chat-reply.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name'],
  additionalProperties: false,
}
const asObject = { type: 'json_object' }
const asPerson = { type: 'json_schema', json_schema: { name: 'person', schema: person } }

async function echoed(content: string, response_format: object): Promise<string | null> {
  const body = { model: 'weir/echo', messages: [{ role: 'user', content }], response_format }
  const { choices } = await readCompletion(await app.chat(body))
  return choices[0]?.message.content ?? null
}

test.each([
  ['an object', ' {"a": [1, 2],\n "b": null} ', asObject],
  ['an object of the asked shape', '{"name": "Ada",  "age": 36}', asPerson],
])('the echo model returns the text of the prompt where it is %s already', async (_, text, format) => {
  expect(await echoed(text, format)).toBe(text)
})

test.each([
  ['is no JSON', 'Ada', asObject, '{"echo":"Ada"}'],
  ['is a list', '[1]', asObject, '{"echo":"[1]"}'],
  [
    'is nested too deeply',
    `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
    asObject,
    expect.stringContaining('{"echo":'),
  ],
  ['lacks a field', '{"age":36}', asPerson, '{"name":"{\\"age\\":36}","age":0}'],
  ['has a field too many', '{"name":"Ada","x":1}', asPerson, expect.stringContaining('"age":0')],
  ['is out of bounds', '{"name":"Ada","age":-1}', asPerson, expect.stringContaining('"age":0')],
])('the echo model returns a sample where the prompt %s', async (_, text, format, reply) => {
  expect(await echoed(text, format)).toEqual(reply)
})

const tree = {
  $defs: {
    node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } },
  },
  $ref: '#/$defs/node',
}

test.each([
  [{}, 5, true],
  [{ const: { a: [1], b: 2 } }, { b: 2, a: [1] }, true],
  [{ const: { a: 1 } }, { a: 2 }, false],
  [{ enum: ['a', 1, null] }, null, true],
  [{ enum: ['a'] }, 'b', false],
  [{ type: ['string', 'null'] }, null, true],
  [{ type: 'integer' }, 1.5, false],
  [{ type: 'number', exclusiveMaximum: 1 }, 1, false],
  [{ type: 'array', items: { type: 'number' }, minItems: 2 }, [1, 2], true],
  [{ type: 'array', items: { type: 'number' } }, ['a'], false],
  [{ type: 'string', minLength: 2 }, 'a', false],
  [{ allOf: [{ type: 'number' }, { minimum: 3 }] }, 2, false],
  [{ oneOf: [{ type: 'number' }, { type: 'string' }] }, 'a', true],
  [{ properties: { a: false } }, { a: 1 }, false],
  [{ type: 'object', additionalProperties: { type: 'number' } }, { x: 'a' }, false],
  [{ type: 'object', required: ['toString'] }, {}, false],
  [tree, { next: { next: null } }, true],
  [tree, { next: { next: 5 } }, false],
  [{ $ref: '#' }, 5, false],
])('the schema %j accepts %j: %p', (schema, value, fit) => {
  expect(fitsSchema(schema, value)).toBe(fit)
})

test('a schema with exponential branches gets a sample immediately', () => {
  const branch = { $ref: '#/$defs/many' }
  const schema = {
    $defs: {
      many: { anyOf: Array.from({ length: 50 }, () => ({ properties: { a: branch }, required: ['b'] })) },
    },
    ...branch,
  }
  const value = parseShallowJson(`${'{"a":'.repeat(90)}1${'}'.repeat(90)}`)
  expect(fitsSchema(schema, value)).toBe(false)
  expect(fitsSchema({ enum: Array.from({ length: 100_000 }, () => ({ a: 1 })) }, { a: { b: 1 } })).toBe(false)
})

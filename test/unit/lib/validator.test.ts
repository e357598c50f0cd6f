import { expect, test } from 'bun:test'
import { type Static, type TSchema, Type } from 'typebox'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { createValidator, validationError } from '../../../src/lib/validation/validator.ts'

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

const point = Type.Object({ x: Type.Integer(), y: Type.Integer() })
const Circle = Type.Object({ type: Type.Literal('circle'), radius: Type.Number({ exclusiveMinimum: 0 }) })
const Line = Type.Object({ type: Type.Literal('line'), points: Type.Array(point, { minItems: 2 }) })
const Group = Type.Object({ type: Type.Literal('group'), shapes: Type.Array(Type.Union([Circle, Line])) })

type Case = readonly [TSchema, unknown, string | null, string, string]

/** Each: schema, value, then the param, code and message of its error. */
const cases: Record<string, Case> = {
  'a missing field': [point, { x: 1 }, 'y', 'missing_required_parameter', "Missing required parameter: 'y'."],
  'the first missing field, before a wrong one': [
    point,
    { y: 'a' },
    'x',
    'missing_required_parameter',
    "Missing required parameter: 'x'.",
  ],
  'an object without any field': [
    Type.Object({ name: Type.Optional(Type.String()) }, { minProperties: 1 }),
    {},
    null,
    'invalid_value',
    'Invalid request body: must have at least 1 field, not 0.',
  ],
  'a text that does not match its pattern': [
    Type.Object({ status: Type.String({ pattern: '^(\\d{3}|failed)$' }) }),
    { status: 'maybe' },
    'status',
    'invalid_value',
    "Invalid 'status': must match ^(\\d{3}|failed)$, not 'maybe'.",
  ],
  'a wrong root': [
    point,
    [1, 2],
    null,
    'invalid_type',
    'Invalid request body: must be an object, not an array.',
  ],
  'an integer with a fraction': [
    point,
    { x: 1.5, y: 1 },
    'x',
    'invalid_type',
    "Invalid 'x': must be an integer, not a decimal number (1.5).",
  ],
  'an item of a tagged branch': [
    Type.Object({ shape: Type.Union([Circle, Group]) }),
    { shape: { type: 'group', shapes: [{ type: 'circle', radius: 1 }, { type: 'circle' }] } },
    'shape.shapes[1].radius',
    'missing_required_parameter',
    "Missing required parameter: 'shape.shapes[1].radius'.",
  ],
  'a tag that no branch has': [
    Type.Union([Circle, Line]),
    { type: 'cube' },
    'type',
    'invalid_value',
    "Invalid 'type': must be one of 'circle' or 'line', not 'cube'.",
  ],
  'a union without a tag, by the branch that fits furthest': [
    Type.Union([Type.Object({ a: Type.Object({ b: Type.Object({ c: Type.String() }) }) }), point]),
    { a: { b: { c: 1 } } },
    'a.b.c',
    'invalid_type',
    "Invalid 'a.b.c': must be a string, not an integer (1).",
  ],
  'a union of other types': [
    Type.Object({ stop: Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()]) }),
    { stop: true },
    'stop',
    'invalid_type',
    "Invalid 'stop': must be a string or an array, not a boolean (true).",
  ],
  'a list of literals': [
    Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal('c')]),
    'd',
    null,
    'invalid_value',
    "Invalid request body: must be one of 'a', 'b' or 'c', not 'd'.",
  ],
  'too few items': [
    Line,
    { type: 'line', points: [{ x: 1, y: 1 }] },
    'points',
    'array_below_min_length',
    "Invalid 'points': must have at least 2 items, not 1.",
  ],
  'a number at an exclusive bound': [
    Circle,
    { type: 'circle', radius: 0 },
    'radius',
    'decimal_below_min_value',
    "Invalid 'radius': must be greater than 0, not 0.",
  ],
  'an infinite number, which JSON writes 1e999': [
    Circle,
    { type: 'circle', radius: JSON.parse('1e999') },
    'radius',
    'decimal_above_max_value',
    "Invalid 'radius': must be a finite number, not Infinity.",
  ],
  'a field of a closed object': [
    Type.Object({ a: Type.Object({}, { additionalProperties: false }) }),
    { a: { b: 1 } },
    'a.b',
    'unknown_parameter',
    "Unknown parameter: 'a.b'.",
  ],
}

test.each(Object.entries(cases))(
  'a validation error explains %s',
  (_, [schema, value, param, code, message]) => {
    const error = validationError(schema, value)
    expect(error.status).toBe(400)
    expect(error.toBody()).toEqual({ error: { message, type: 'invalid_request_error', param, code } })
  },
)

test('a long value of the client is truncated, and a wrong type is named without its value', () => {
  const schema = Type.Object({ word: Type.Enum(['a']), number: Type.Optional(Type.Number()) })
  const cut = validationError(schema, { word: `${'x'.repeat(39)}😀${'x'.repeat(500)}` }).message
  expect(cut).toBe(`Invalid 'word': must be 'a', not '${'x'.repeat(39)}\ufffd…'.`)
  const named = validationError(schema, { word: 'a', number: 'a secret prompt' }).message
  expect(named).not.toContain('secret')
})

test('a value is quoted where it is a short word or a number, and never where it looks like a secret', () => {
  const schema = Type.Object({ number: Type.Number({ minimum: 0 }), word: Type.Enum(['a']) })
  const output = (value: object) => validationError(schema, { number: 1, word: 'a', ...value }).message
  expect(output({ number: -1 })).toBe("Invalid 'number': must be at least 0, not -1.")
  expect(output({ number: '0.5' })).toBe("Invalid 'number': must be a number, not a string ('0.5').")
  expect(output({ number: 'sk-abcdefgh' })).toBe("Invalid 'number': must be a number, not a string.")
  expect(output({ word: `sk-${'x'.repeat(60)}` })).toBe(
    "Invalid 'word': must be 'a', not a string that looks like a secret.",
  )
})

test('the requested model is included for the log, where there is one', () => {
  const schema = Type.Object({ model: Type.String(), number: Type.Number() })
  expect(validationError(schema, { model: 'acme/river', number: 'x' }).log).toEqual({ model: 'acme/river' })
  expect(validationError(schema, { model: 5, number: 1 }).log.model).toBeUndefined()
  expect(validationError(schema, null).log.model).toBeUndefined()
})

test('a name of the client is truncated too, and brings no line break into the message', () => {
  const schema = Type.Object({}, { additionalProperties: false })
  expect(validationError(schema, { ['x'.repeat(500)]: 1 }).param).toBe(`${'x'.repeat(40)}…`)
  expect(validationError(schema, { 'a\nb': 1 }).message).toBe("Unknown parameter: 'a\ufffdb'.")
})

test('a key named __proto__ is a key like any other', () => {
  const closed = Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false })
  expect(validationError(closed, JSON.parse('{"__proto__":{"a":"x"}}')).param).toBe('__proto__')
  expect(validationError(point, JSON.parse('{"__proto__":{"x":1,"y":1}}')).param).toBe('x')
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
})

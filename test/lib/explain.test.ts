import { expect, test } from 'bun:test'
import { type TSchema, Type } from 'typebox'
import { explain } from '../../src/lib/explain.ts'

const point = Type.Object({ x: Type.Integer(), y: Type.Integer() })
const Circle = Type.Object({ type: Type.Literal('circle'), radius: Type.Number({ exclusiveMinimum: 0 }) })
const Line = Type.Object({ type: Type.Literal('line'), points: Type.Array(point, { minItems: 2 }) })
const Group = Type.Object({ type: Type.Literal('group'), shapes: Type.Array(Type.Union([Circle, Line])) })

type Case = readonly [TSchema, unknown, string | null, string, string]

/** Each: schema, value, then the param, code and message of its error. */
const cases: Record<string, Case> = {
  'a missing field': [point, { x: 1 }, 'y', 'missing_required_parameter', "'y' is required."],
  'the first missing field, before a wrong one': [
    point,
    { y: 'a' },
    'x',
    'missing_required_parameter',
    "'x' is required.",
  ],
  'a wrong root': [
    point,
    [1, 2],
    null,
    'invalid_type',
    'Invalid request body: expected an object, but got an array.',
  ],
  'an integer with a fraction': [
    point,
    { x: 1.5, y: 1 },
    'x',
    'invalid_type',
    "Invalid 'x': expected an integer, but got a decimal number.",
  ],
  'an item of a tagged branch': [
    Type.Object({ shape: Type.Union([Circle, Group]) }),
    { shape: { type: 'group', shapes: [{ type: 'circle', radius: 1 }, { type: 'circle' }] } },
    'shape.shapes[1].radius',
    'missing_required_parameter',
    "'shape.shapes[1].radius' is required.",
  ],
  'a tag that no branch has': [
    Type.Union([Circle, Line]),
    { type: 'cube' },
    'type',
    'invalid_value',
    "Invalid 'type': expected one of 'circle' or 'line', but got 'cube'.",
  ],
  'a union without a tag, by the branch that fits furthest': [
    Type.Union([Type.Object({ a: Type.Object({ b: Type.Object({ c: Type.String() }) }) }), point]),
    { a: { b: { c: 1 } } },
    'a.b.c',
    'invalid_type',
    "Invalid 'a.b.c': expected a string, but got an integer.",
  ],
  'a union of other types': [
    Type.Object({ stop: Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()]) }),
    { stop: true },
    'stop',
    'invalid_type',
    "Invalid 'stop': expected a string or an array, but got a boolean.",
  ],
  'a list of literals': [
    Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal('c')]),
    'd',
    null,
    'invalid_value',
    "Invalid request body: expected one of 'a', 'b' or 'c', but got 'd'.",
  ],
  'too few items': [
    Line,
    { type: 'line', points: [{ x: 1, y: 1 }] },
    'points',
    'array_below_min_length',
    "Invalid 'points': expected an array of at least 2 items, but got 1 item.",
  ],
  'a number at an exclusive bound': [
    Circle,
    { type: 'circle', radius: 0 },
    'radius',
    'decimal_below_min_value',
    "Invalid 'radius': expected a number greater than 0, but got 0.",
  ],
  'an infinite number, which JSON writes 1e999': [
    Circle,
    { type: 'circle', radius: JSON.parse('1e999') },
    'radius',
    'decimal_above_max_value',
    "Invalid 'radius': expected a number of ordinary size, but got Infinity.",
  ],
  'a field of a closed object': [
    Type.Object({ a: Type.Object({}, { additionalProperties: false }) }),
    { a: { b: 1 } },
    'a.b',
    'unknown_parameter',
    "'a.b' is not a known parameter.",
  ],
}

test.each(Object.entries(cases))('%s', (_, [schema, value, param, code, message]) => {
  const error = explain(schema, value)
  expect(error.status).toBe(400)
  expect(error.toBody()).toEqual({ error: { message, type: 'invalid_request_error', param, code } })
})

test('a long foreign value is cut, a wrong type is named without its value', () => {
  const schema = Type.Object({ word: Type.Enum(['a']), number: Type.Optional(Type.Number()) })
  const cut = explain(schema, { word: `${'x'.repeat(39)}😀${'x'.repeat(500)}` }).message
  expect(cut).toBe(`Invalid 'word': expected 'a', but got '${'x'.repeat(39)}\ufffd…'.`)
  const named = explain(schema, { word: 'a', number: 'a secret prompt' }).message
  expect(named).not.toContain('secret')
})

test('a foreign name is cut too, and brings no line end into the message', () => {
  const schema = Type.Object({}, { additionalProperties: false })
  expect(explain(schema, { ['x'.repeat(500)]: 1 }).param).toBe(`${'x'.repeat(40)}…`)
  expect(explain(schema, { 'a\nb': 1 }).message).toBe("'a\ufffdb' is not a known parameter.")
})

test('a key named __proto__ is a key like any other', () => {
  const closed = Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false })
  expect(explain(closed, JSON.parse('{"__proto__":{"a":"x"}}')).param).toBe('__proto__')
  expect(explain(point, JSON.parse('{"__proto__":{"x":1,"y":1}}')).param).toBe('x')
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
})

import { type Fields, fieldsOf, isObject, listOf, parseJson } from '../../lib/json/json.ts'
import { tooDeep } from '../../lib/validation/nesting.ts'
import { resolved } from './sample.ts'

/** Steps and levels: schema and value are the caller's, and may lead back to themselves. */
const maxSteps = 100_000
const maxDepth = 100

/**
 * Whether the value has the shape that a JSON Schema describes: types, fields, items, choices and bounds. What it cannot
 * tell within its bounds does not fit; patterns and formats are not looked at.
 */
export function fitsSchema(schema: Fields, value: unknown): boolean {
  return fits(schema, value, { root: schema, steps: 0 }, 0)
}

/** The value that the text is in JSON; undefined where it is none, or nested too deeply to be compared. */
export function jsonIn(text: string): unknown {
  return tooDeep(text, maxDepth) ? undefined : parseJson(text)
}

type Check = { readonly root: Fields; steps: number }

function fits(given: unknown, value: unknown, check: Check, depth: number): boolean {
  if (depth > maxDepth || ++check.steps > maxSteps) return false
  if (typeof given === 'boolean') return given
  const schema = resolved(fieldsOf(given), check.root)
  // A chain of references is followed step by step.
  if (typeof schema.$ref === 'string') return fits(schema, value, check, depth + 1)
  return (
    fitsChoice(schema, value, check) &&
    fitsType(schema.type, value) &&
    fitsBranches(schema, value, check, depth) &&
    fitsBounds(schema, value) &&
    fitsContent(schema, value, check, depth)
  )
}

function fitsChoice(schema: Fields, value: unknown, check: Check): boolean {
  if ('const' in schema && !isSame(schema.const, value, check)) return false
  return !Array.isArray(schema.enum) || schema.enum.some((choice) => isSame(choice, value, check))
}

/** Both come from JSON; of objects the order of the fields does not count. */
function isSame(one: unknown, other: unknown, check: Check): boolean {
  if (++check.steps > maxSteps) return false
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index], check))
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name], check))
}

function fitsType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true
  return [type].flat().some((word) => isOfType(word, value))
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'object') return isObject(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function fitsBranches(schema: Fields, value: unknown, check: Check, depth: number): boolean {
  const fitting = (branch: unknown) => fits(branch, value, check, depth + 1)
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(fitting)) return false
  if (Array.isArray(schema.oneOf) && !schema.oneOf.some(fitting)) return false
  return listOf(schema.allOf).every(fitting)
}

function fitsBounds(schema: Fields, value: unknown): boolean {
  if (typeof value === 'number') {
    if (value < atLeast(schema.minimum) || value > atMost(schema.maximum)) return false
    return value > atLeast(schema.exclusiveMinimum) && value < atMost(schema.exclusiveMaximum)
  }
  if (typeof value === 'string')
    return value.length >= atLeast(schema.minLength) && value.length <= atMost(schema.maxLength)
  if (!Array.isArray(value)) return true
  return value.length >= atLeast(schema.minItems) && value.length <= atMost(schema.maxItems)
}

function atLeast(bound: unknown): number {
  return typeof bound === 'number' ? bound : Number.NEGATIVE_INFINITY
}

function atMost(bound: unknown): number {
  return typeof bound === 'number' ? bound : Number.POSITIVE_INFINITY
}

function fitsContent(schema: Fields, value: unknown, check: Check, depth: number): boolean {
  if (Array.isArray(value))
    return schema.items === undefined || value.every((item) => fits(schema.items, item, check, depth + 1))
  return !isObject(value) || fitsFields(schema, value, check, depth)
}

function fitsFields(schema: Fields, value: Fields, check: Check, depth: number): boolean {
  const properties = fieldsOf(schema.properties)
  const { additionalProperties: others = true } = schema
  const required = listOf(schema.required)
  check.steps += required.length
  if (!required.every((name) => typeof name === 'string' && Object.hasOwn(value, name))) return false
  return Object.entries(value).every(([name, field]) =>
    fits(Object.hasOwn(properties, name) ? properties[name] : others, field, check, depth + 1),
  )
}

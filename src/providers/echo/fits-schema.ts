import { type Fields, fieldsOf, isObject, listOf, parseJson } from '../../lib/json/json.ts'
import { isTooDeep } from '../../lib/validation/json-bounds.ts'
import { resolveReference } from './sample.ts'

/** Limits of steps and levels: the caller controls schema and value, and the schema may be recursive. */
const maxSteps = 100_000
const maxDepth = 100

/**
 * True where the value matches a JSON Schema by types, fields, items, choices and bounds. Patterns and formats are not
 * checked. A check that exceeds its limits is false.
 */
export function fitsSchema(schema: Fields, value: unknown): boolean {
  return fits(schema, value, { root: schema, steps: 0 }, 0)
}

/** Parses the text; undefined where it is not JSON, or nested too deeply to be compared. */
export function parseShallowJson(text: string): unknown {
  return isTooDeep(text, maxDepth) ? undefined : parseJson(text)
}

type Check = { readonly root: Fields; steps: number }

function fits(schemaOrBoolean: unknown, value: unknown, check: Check, depth: number): boolean {
  if (depth > maxDepth || ++check.steps > maxSteps) return false
  if (typeof schemaOrBoolean === 'boolean') return schemaOrBoolean
  const schema = resolveReference(fieldsOf(schemaOrBoolean), check.root)
  // Each reference of a chain counts as one level.
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

/** Compares two JSON values; the order of fields is ignored. */
function isSame(first: unknown, second: unknown, check: Check): boolean {
  if (++check.steps > maxSteps) return false
  if (Array.isArray(first) && Array.isArray(second))
    return first.length === second.length && first.every((item, index) => isSame(item, second[index], check))
  if (!isObject(first) || !isObject(second)) return first === second
  const names = Object.keys(first)
  if (names.length !== Object.keys(second).length) return false
  return names.every((name) => Object.hasOwn(second, name) && isSame(first[name], second[name], check))
}

function fitsType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true
  return [type].flat().some((name) => isOfType(name, value))
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
    if (value < lowerBound(schema.minimum) || value > upperBound(schema.maximum)) return false
    return value > lowerBound(schema.exclusiveMinimum) && value < upperBound(schema.exclusiveMaximum)
  }
  if (typeof value === 'string')
    return value.length >= lowerBound(schema.minLength) && value.length <= upperBound(schema.maxLength)
  if (!Array.isArray(value)) return true
  return value.length >= lowerBound(schema.minItems) && value.length <= upperBound(schema.maxItems)
}

function lowerBound(bound: unknown): number {
  return typeof bound === 'number' ? bound : Number.NEGATIVE_INFINITY
}

function upperBound(bound: unknown): number {
  return typeof bound === 'number' ? bound : Number.POSITIVE_INFINITY
}

function fitsContent(schema: Fields, value: unknown, check: Check, depth: number): boolean {
  if (Array.isArray(value))
    return schema.items === undefined || value.every((item) => fits(schema.items, item, check, depth + 1))
  return !isObject(value) || fitsFields(schema, value, check, depth)
}

function fitsFields(schema: Fields, value: Fields, check: Check, depth: number): boolean {
  const properties = fieldsOf(schema.properties)
  const { additionalProperties: additional = true } = schema
  const required = listOf(schema.required)
  check.steps += required.length
  if (!required.every((name) => typeof name === 'string' && Object.hasOwn(value, name))) return false
  return Object.entries(value).every(([name, field]) =>
    fits(Object.hasOwn(properties, name) ? properties[name] : additional, field, check, depth + 1),
  )
}

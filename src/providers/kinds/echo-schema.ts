import { type Fields, fieldsOf, isObject, type Json, listOf, parseJson } from '../../lib/json/json.ts'
import { isTooDeep } from '../../lib/validation/json-bounds.ts'

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

/** In characters: longer JSON may have more values than are worth to be parsed. */
const maxLength = 256 * 1024

/** Parses the text; undefined where it is not JSON, too long, or nested too deeply to be compared. */
export function parseShallowJson(text: string): unknown {
  return text.length > maxLength || isTooDeep(text, maxDepth) ? undefined : parseJson(text)
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

/** The limit of levels: schemas may be recursive. */
const maxSampleDepth = 12
/** A schema that is recursive in several places describes an exponential number of values. */
const maxValues = 10_000
/** The limit of the characters of all values together. */
const maxCharacters = 16 * 1024 * 1024

/** A value that matches a JSON Schema within the limits, with `text` for each string. */
export function sampleOf(schema: Fields, text: string): Json {
  return sample(schema, { root: schema, text, values: maxValues, characters: maxCharacters }, 0)
}

type Sampling = { readonly root: Fields; readonly text: string; values: number; characters: number }

function sample(schemaOrReference: Fields, sampling: Sampling, depth: number): Json {
  const schema = resolveReference(schemaOrReference, sampling.root)
  sampling.values -= 1
  if (depth > maxSampleDepth || sampling.values < 0) return null
  if ('const' in schema) return literal(schema.const as Json, sampling)
  const [example] = listOf(schema.enum)
  if (example !== undefined) return literal(example as Json, sampling)
  const branch = [schema.anyOf, schema.oneOf, schema.allOf].map(listOf).find((list) => list.length > 0)?.[0]
  if (branch !== undefined) return sample(fieldsOf(branch), sampling, depth + 1)
  return sampleOfType(schema, sampling, depth)
}

function sampleOfType(schema: Fields, sampling: Sampling, depth: number): Json {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'object':
      return sampleObject(schema, sampling, depth)
    case 'array':
      return schema.minItems ? [sample(fieldsOf(schema.items), sampling, depth + 1)] : []
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return 'properties' in schema ? sampleObject(schema, sampling, depth) : literal(sampling.text, sampling)
  }
}

function sampleObject(schema: Fields, sampling: Sampling, depth: number): Json {
  const entries: [string, Json][] = []
  for (const [name, property] of Object.entries(fieldsOf(schema.properties))) {
    sampling.characters -= name.length
    if (sampling.values <= 0 || sampling.characters < 0) break
    entries.push([name, sample(fieldsOf(property), sampling, depth + 1)])
  }
  return Object.fromEntries(entries)
}

/** The value, or null once the limit of characters is exceeded. */
function literal(value: Json, sampling: Sampling): Json {
  if (sampling.characters < 0) return null
  sampling.characters -= typeof value === 'string' ? value.length : JSON.stringify(value).length
  return sampling.characters < 0 ? null : value
}

/** In characters: a longer reference is not resolved. */
const maxReferenceLength = 1000

/** Resolves a reference such as `#/a/b` once; the limit of levels ends a chain of references. */
function resolveReference(schema: Fields, root: Fields): Fields {
  const { $ref } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#') || $ref.length > maxReferenceLength) return schema
  return $ref
    .split('/')
    .slice(1)
    .reduce<Fields>((node, name) => fieldsOf(Object.hasOwn(node, name) ? node[name] : undefined), root)
}

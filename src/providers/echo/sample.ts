import type { Json } from '../../lib/json/json.ts'
import { type Fields, fieldsOf, listOf } from '../../lib/json/json.ts'

/** The limit of levels: schemas may be recursive. */
const maxDepth = 12
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
  if (depth > maxDepth || sampling.values < 0) return null
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
export function resolveReference(schema: Fields, root: Fields): Fields {
  const { $ref } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#') || $ref.length > maxReferenceLength) return schema
  return $ref
    .split('/')
    .slice(1)
    .reduce<Fields>((node, name) => fieldsOf(Object.hasOwn(node, name) ? node[name] : undefined), root)
}

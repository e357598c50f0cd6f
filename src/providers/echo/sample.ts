import type { Json } from '../../lib/json/json.ts'
import { type Fields, fieldsOf, listOf } from '../../lib/json/json.ts'

/** Schemas may lead back to themselves. */
const deepest = 12
/** A schema that leads back to itself in several places describes more values than anybody can write. */
const maxValues = 10_000
/** Of all that it describes together, however often the same comes. */
const maxCharacters = 16 * 1024 * 1024

/** A value that a JSON Schema describes, with `text` where it wants a string, as far as it is not out of all bounds. */
export function sampleOf(schema: Fields, text: string): Json {
  return sample(schema, { root: schema, text, values: maxValues, characters: maxCharacters }, 0)
}

type Sampling = { readonly root: Fields; readonly text: string; values: number; characters: number }

function sample(given: Fields, sampling: Sampling, depth: number): Json {
  const schema = resolved(given, sampling.root)
  sampling.values -= 1
  if (depth > deepest || sampling.values < 0) return null
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
  const sampled: [string, Json][] = []
  for (const [name, property] of Object.entries(fieldsOf(schema.properties))) {
    sampling.characters -= name.length
    if (sampling.values <= 0 || sampling.characters < 0) break
    sampled.push([name, sample(fieldsOf(property), sampling, depth + 1)])
  }
  return Object.fromEntries(sampled)
}

/** The value, or null once there is more than anybody can read. */
function literal(value: Json, sampling: Sampling): Json {
  if (sampling.characters < 0) return null
  sampling.characters -= typeof value === 'string' ? value.length : JSON.stringify(value).length
  return sampling.characters < 0 ? null : value
}

/** In characters: a longer reference is not followed. */
const maxReference = 1000

/** Follows `#/a/b` once; a chain of references ends with the depth. */
export function resolved(schema: Fields, root: Fields): Fields {
  const { $ref } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#') || $ref.length > maxReference) return schema
  return $ref
    .split('/')
    .slice(1)
    .reduce<Fields>((place, name) => fieldsOf(Object.hasOwn(place, name) ? place[name] : undefined), root)
}

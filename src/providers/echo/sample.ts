import type { Json } from '../../lib/json.ts'
import { type Fields, fieldsOf, listOf } from '../../lib/json.ts'

/** Schemas may lead back to themselves. */
const deepest = 12

/** A value that a JSON Schema describes, with `text` where it wants a string. */
export function sampleOf(schema: Fields, text: string): Json {
  return sample(schema, text, schema, 0)
}

function sample(given: Fields, text: string, root: Fields, depth: number): Json {
  const schema = resolved(given, root)
  if (depth > deepest) return null
  if ('const' in schema) return schema.const as Json
  const [example] = listOf(schema.enum)
  if (example !== undefined) return example as Json
  const [branch] = [...listOf(schema.anyOf), ...listOf(schema.oneOf), ...listOf(schema.allOf)]
  if (branch !== undefined) return sample(fieldsOf(branch), text, root, depth + 1)
  return sampleOfType(schema, text, root, depth)
}

function sampleOfType(schema: Fields, text: string, root: Fields, depth: number): Json {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'object':
      return sampleObject(schema, text, root, depth)
    case 'array':
      return schema.minItems ? [sample(fieldsOf(schema.items), text, root, depth + 1)] : []
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return 'properties' in schema ? sampleObject(schema, text, root, depth) : text
  }
}

function sampleObject(schema: Fields, text: string, root: Fields, depth: number): Json {
  const properties = Object.entries(fieldsOf(schema.properties))
  return Object.fromEntries(
    properties.map(([name, property]) => [name, sample(fieldsOf(property), text, root, depth + 1)]),
  )
}

/** Follows `#/a/b` once; a chain of references ends with the depth. */
export function resolved(schema: Fields, root: Fields): Fields {
  if (typeof schema.$ref !== 'string' || !schema.$ref.startsWith('#')) return schema
  return schema.$ref
    .split('/')
    .slice(1)
    .reduce<Fields>((place, name) => fieldsOf(place[name]), root)
}

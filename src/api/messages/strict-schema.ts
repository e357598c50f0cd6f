import { type Fields, fieldsOf, isObject, listOf } from '../../lib/json/json.ts'

/** A schema that nests deeper is not worth the search. */
const maxDepth = 40

/**
 * Whether every provider with strict schemas accepts the schema as a strict one: each object requires all of its
 * properties, and allows no others. Anthropic also accepts optional properties.
 */
export function isStrictSchema(schema: unknown, depth = 0): boolean {
  if (!isObject(schema)) return true
  if (depth > maxDepth) return false
  return isStrictObject(schema) && childrenOf(schema).every((child) => isStrictSchema(child, depth + 1))
}

function isStrictObject({ type, properties, required, additionalProperties }: Fields): boolean {
  if (type !== 'object' && properties === undefined) return true
  const names = new Set(listOf(required))
  return additionalProperties === false && Object.keys(fieldsOf(properties)).every((name) => names.has(name))
}

function childrenOf({ properties, $defs, definitions, items, anyOf }: Fields): readonly unknown[] {
  const named = [properties, $defs, definitions].flatMap((schemas) => Object.values(fieldsOf(schemas)))
  return [...named, items, ...listOf(anyOf)]
}

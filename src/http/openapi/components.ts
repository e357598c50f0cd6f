import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../lib/json/json.ts'

/** The schemas of the document that have a title. */
export type Components = {
  /** Returns the value with references in place of the schemas that have a title, and keeps those. */
  hoist(value: Json): Json
  /** The schemas by title, in alphabetical order. */
  schemas(): JsonObject
}

/** Creates an empty collection. `hoist` throws where two different schemas have the same title. */
export function createComponents(): Components {
  const schemas = new Map<string, Json>()

  function hoist(value: Json): Json {
    if (isList(value)) return value.map(hoist)
    if (typeof value !== 'object' || value === null) return value
    const hoisted = Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, field === undefined ? undefined : hoist(field)]),
    )
    return typeof hoisted.title === 'string' ? referenceTo(hoisted.title, hoisted) : hoisted
  }

  function referenceTo(title: string, schema: Json): Json {
    const known = schemas.get(title)
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new Error(`Two schemas have the title ${title}.`)
    }
    schemas.set(title, schema)
    return { $ref: `#/components/schemas/${title}` }
  }

  return { hoist, schemas: () => Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

/** `Array.isArray` does not narrow a read-only list. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

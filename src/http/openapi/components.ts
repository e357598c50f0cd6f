import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../lib/json/json.ts'

/** The schemas that have a name, gathered from all over the document. */
export type Components = {
  /** The same with references in place of the schemas that have a title. */
  hoist(value: Json): Json
  /** The schemas by title, in the order of the alphabet. */
  schemas(): JsonObject
}

/** A schema with a title stands once in the document, under this title. */
export function createComponents(): Components {
  const found = new Map<string, Json>()

  function hoist(value: Json): Json {
    if (isList(value)) return value.map(hoist)
    if (typeof value !== 'object' || value === null) return value
    const inside = Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, field === undefined ? undefined : hoist(field)]),
    )
    return typeof inside.title === 'string' ? named(inside.title, inside) : inside
  }

  function named(title: string, schema: Json): Json {
    const known = found.get(title)
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new Error(`Two schemas have the title ${title}.`)
    }
    found.set(title, schema)
    return { $ref: `#/components/schemas/${title}` }
  }

  return { hoist, schemas: () => Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

/** `Array.isArray` does not narrow a read-only list. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** What JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json | undefined }

/** An object as it came from elsewhere: nothing is known of its fields yet. */
export type Fields = { readonly [name: string]: unknown }

/** True for a plain object, not for null or a list. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, else an empty one: for reading fields that a provider may leave out. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

/** The fields of other names; undefined where there are none. */
export function fieldsBeside(known: ReadonlySet<string>, fields: Fields): Fields | undefined {
  if (!hasOthers(known, fields)) return undefined
  // Not by assignments: a key named `__proto__` stays a key.
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !known.has(name)))
}

/** A loop that makes no list: almost no object has any, and conversations have many objects. */
function hasOthers(known: ReadonlySet<string>, fields: Fields): boolean {
  for (const name in fields) if (!known.has(name)) return true
  return false
}

/** The value if it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value if it is a string that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The value if it is a finite number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The parsed text, or undefined where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

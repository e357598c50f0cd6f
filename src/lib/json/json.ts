/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
/** A JSON object. */
export type JsonObject = { readonly [name: string]: Json | undefined }

/** A foreign object: its fields are not validated. */
export type Fields = { readonly [name: string]: unknown }

/** True for an object that is not null or an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value if it is an object, else an empty one: for reading fields that a provider may omit. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

/** Returns the fields whose names are not in `known`; undefined if there are none. */
export function fieldsBeside(known: ReadonlySet<string>, fields: Fields): Fields | undefined {
  if (!hasOthers(known, fields)) return undefined
  // Not by assignment: a key named `__proto__` must stay a key.
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !known.has(name)))
}

/** A loop that allocates nothing: almost no object has others, and conversations have many objects. */
function hasOthers(known: ReadonlySet<string>, fields: Fields): boolean {
  for (const name in fields) if (!known.has(name)) return true
  return false
}

/** Returns the fields that are neither null nor undefined. */
export function withoutEmpty(fields: Fields): Record<string, unknown> {
  // Not by assignment: a key named `__proto__` must stay a key.
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** Declares that the fields are JSON, because they were parsed from it. */
export function asJson(fields: Fields): Json {
  return fields as Json
}

/** Returns the value if it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the value if it is a string that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the value if it is a finite number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Parses the text; returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A number that JSON has exactly as written, although a JavaScript number could not represent it. */
export type ExactNumber = { readonly rawJSON: string }

/** The types of the platform do not declare it. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): ExactNumber }

/** Returns a value that `JSON.stringify` writes as this number: `0.000000001`. */
export function exactNumber(decimal: string): ExactNumber {
  return rawJSON(decimal)
}

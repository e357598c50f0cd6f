import type { Static, TSchema } from 'typebox'
import { Check } from 'typebox/schema'
import { type Fields, fieldsOf, isObject, listOf, numberOf, textOf } from '../lib/json/json.ts'
import { suggestion } from '../lib/near-match.ts'
import { problemPath, type SettingsProblem } from './problem.ts'

/**
 * Returns true if the value matches the schema; otherwise adds a problem for each mismatch to `problems`.
 * The messages do not show values of private settings, or of those in `variablePaths`, which come from the environment.
 */
export function checkSchema<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  problems: SettingsProblem[],
  variablePaths: ReadonlySet<string> = new Set(),
): value is Static<Schema> {
  const mismatches = [...problemsOf(fieldsOf(schema), value, '')].map(({ found, path, message }) => {
    if (found === undefined) return { path, message }
    const shown = variablePaths.has(path) ? describeType(found.value) : describeValue(found)
    return { path, message: `${message}, not ${shown}.${found.example ?? ''}` }
  })
  // A setting that already has a problem needs no second one.
  const reported = new Set(problems.map(({ path }) => path))
  problems.push(...mismatches.filter(({ path }) => !reported.has(path)))
  if (mismatches.length > 0 || Check(schema, value)) return mismatches.length === 0
  problems.push({ path: '', message: 'The settings are invalid.' })
  return false
}

/** The value that was found where the message says what it must be. */
type Found = { readonly schema: Fields; readonly value: unknown; readonly example?: string }
type Problems = Generator<SettingsProblem & { readonly found?: Found }>

function* problemsOf(schema: Fields, value: unknown, path: string): Problems {
  if (value === null) yield { path, message: 'has no value. Set one, or remove the line.' }
  else if (isObject(schema.properties)) yield* problemsOfObject(schema, schema.properties, value, path)
  else if (isObject(schema.patternProperties)) yield* problemsOfRecord(schema, value, path)
  else if (schema.type === 'array') yield* problemsOfList(schema, value, path)
  else if (!Check(schema, value)) yield* problemsOfChoice(schema, value, path)
}

function* problemsOfObject(schema: Fields, properties: Fields, value: unknown, path: string): Problems {
  if (!isObject(value)) return yield wrongType('an object', schema, value, path)
  for (const [name, item] of Object.entries(value)) {
    const itemPath = problemPath(path, name)
    if (Object.hasOwn(properties, name)) yield* problemsOf(fieldsOf(properties[name]), item, itemPath)
    else yield { path: itemPath, message: unknownSettingMessage(name, Object.keys(properties)) }
  }
  for (const name of listOf(schema.required))
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      yield { path: problemPath(path, name), message: 'is missing.' }
}

function unknownSettingMessage(name: string, names: readonly string[]): string {
  return `unknown setting. ${suggestion(name, names, `Known settings: ${names.join(', ')}.`)}`
}

function* problemsOfRecord(schema: Fields, value: unknown, path: string): Problems {
  if (!isObject(value)) return yield wrongType('an object', schema, value, path)
  const [entry] = Object.values(fieldsOf(schema.patternProperties))
  for (const [name, item] of Object.entries(value))
    yield* problemsOf(fieldsOf(entry), item, problemPath(path, name))
}

/** Returns a problem with an example to copy. */
function wrongType(expected: string, schema: Fields, value: unknown, path: string) {
  const name = /([^.[\]]+)(\[\d+\])?$/.exec(path)
  const example =
    name === null ? 'port: 9347' : `${name[1]}: ${name[2] ? `[${exampleYaml(schema)}]` : exampleYaml(schema)}`
  return {
    path,
    message: `must be ${expected}`,
    found: { schema, value, example: ` Example: “${example}”.` },
  }
}

function* problemsOfList(schema: Fields, value: unknown, path: string): Problems {
  if (!Array.isArray(value)) return yield wrongType('a list', schema, value, path)
  const minItems = numberOf(schema.minItems) ?? 0
  if (value.length < minItems) yield { path, message: `must have at least ${minItems} entry.` }
  for (const [index, item] of value.entries())
    yield* problemsOf(fieldsOf(schema.items), item, problemPath(path, index))
}

/** Explains a union of objects by the member whose tag the value has, and anything else by what it must be. */
function* problemsOfChoice(schema: Fields, value: unknown, path: string): Problems {
  const choices = listOf(schema.anyOf).map(fieldsOf)
  const matching = isObject(value) ? choices.find((choice) => hasTagOf(choice, value)) : undefined
  if (matching !== undefined) yield* problemsOf(matching, value, path)
  else yield { path, message: `must be ${describeSchema(schema)}`, found: { schema, value } }
}

function hasTagOf(choice: Fields, value: Fields): boolean {
  return Object.entries(fieldsOf(choice.properties)).some(([name, schema]) => {
    const tag = fieldsOf(schema).const
    return tag !== undefined && tag === value[name]
  })
}

/** Returns which values the schema allows: the text after “must be” in a message. */
export function describeSchema(schema: Fields): string {
  const expected = textOf(schema.expected)
  if (expected !== undefined) return expected
  if (Array.isArray(schema.enum))
    return schema.enum.length === 1 ? String(schema.enum[0]) : `one of ${schema.enum.join(', ')}`
  if (schema.const !== undefined) return String(schema.const)
  const choices = listOf(schema.anyOf).map(fieldsOf)
  if (choices.length > 0) return [...new Set(choices.map(describeSchema))].join(' or ')
  if (schema.type === 'integer') return `a whole number${rangeText(schema)}`
  if (schema.type === 'number') return `a number${rangeText(schema)}`
  if (schema.type === 'boolean') return 'true or false'
  return schema.type === 'string' ? 'a string' : 'an object'
}

function rangeText(schema: Fields): string {
  const { minimum, maximum } = schema
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  return minimum === undefined ? '' : ` of at least ${minimum}`
}

/** Shows a value that cannot be a secret, and only the type of any other one. */
function describeValue({ schema, value }: Found): string {
  if (schema.private === true) return describeType(value)
  if (typeof value === 'number') return String(value)
  const isShown = typeof value === 'string' && value !== '' && value.length <= 60 && !mayBeSecret(value)
  return isShown ? `“${value}”` : describeType(value)
}

/** True for a text with the form of a key, a token or a URL with credentials, and for one of several lines. */
function mayBeSecret(text: string): boolean {
  if (
    /[^\x20-\x7e\u00a1-\u1fff]|@|^(bearer|basic) |\b(sk|pk|gsk|key|hf|xai|ghp|AIza)[-_]|password|secret|token/i.test(
      text,
    )
  )
    return true
  const words = text.split(/[^A-Za-z0-9]+/)
  return words.some(
    (word) => word.length > 20 || (word.length > 8 && /\d/.test(word) && /[A-Za-z]/.test(word)),
  )
}

/** Names the type of a value without showing it, because it may be a secret. */
function describeType(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'this string'
  if (typeof value === 'number') return 'this number'
  if (typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** Returns an example value in YAML flow style: the example of the schema, else one composed of its parts. */
export function exampleYaml(schema: Fields): string {
  const [example] = listOf(schema.examples)
  if (example !== undefined) return flowYaml(example)
  if (isObject(schema.properties)) return objectExample(schema, schema.properties)
  if (isObject(schema.patternProperties))
    return `{ name: ${exampleYaml(fieldsOf(Object.values(schema.patternProperties)[0]))} }`
  if (schema.type === 'array') return `[${exampleYaml(fieldsOf(schema.items))}]`
  const [choice] = [
    ...listOf(schema.enum),
    ...listOf(schema.anyOf).map((choice) => exampleYaml(fieldsOf(choice))),
  ]
  if (schema.const !== undefined || choice !== undefined) return String(schema.const ?? choice)
  if (schema.type === 'boolean') return 'true'
  return schema.type === 'string' ? 'text' : String(Math.max(1, numberOf(schema.minimum) ?? 1))
}

function objectExample(schema: Fields, properties: Fields): string {
  const required = listOf(schema.required).map(String)
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
  return `{ ${names.map((name) => `${name}: ${exampleYaml(fieldsOf(properties[name]))}`).join(', ')} }`
}

function flowYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowYaml).join(', ')}]`
  if (!isObject(value)) return String(value)
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${flowYaml(part)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

/**
 * Returns the part of the value that the schema allows, so that the rest of an invalid file can be checked too; undefined
 * if there is none. What is required and not valid becomes an example, and the places in lists stay the same.
 */
export function validPart(schema: Fields, value: unknown): unknown {
  if (isObject(schema.properties))
    return isObject(value) ? validFields(schema, schema.properties, value) : undefined
  if (isObject(schema.patternProperties)) return isObject(value) ? validEntries(schema, value) : undefined
  if (schema.type !== 'array') return Check(schema, value) ? value : undefined
  if (!Array.isArray(value) || value.length < (numberOf(schema.minItems) ?? 0)) return undefined
  const items = fieldsOf(schema.items)
  return value.map((item) => validPart(items, item) ?? exampleOf(items))
}

function validFields(schema: Fields, properties: Fields, value: Fields): Fields {
  const required = listOf(schema.required)
  const entries = Object.entries(properties).map(([name, property]) => {
    const part = Object.hasOwn(value, name) ? validPart(fieldsOf(property), value[name]) : undefined
    return [name, part ?? (required.includes(name) ? exampleOf(fieldsOf(property)) : undefined)] as const
  })
  return Object.fromEntries(entries.filter(([, part]) => part !== undefined))
}

function validEntries(schema: Fields, value: Fields): Fields {
  const [entry] = Object.values(fieldsOf(schema.patternProperties))
  const parts = Object.entries(value).map(([name, item]) => [name, validPart(fieldsOf(entry), item)] as const)
  // A provider without a valid setting is still one that routes may name.
  const isOfObjects = isObject(fieldsOf(entry).properties)
  return Object.fromEntries(
    parts.flatMap(([name, part]) => (part !== undefined || isOfObjects ? [[name, part ?? {}]] : [])),
  )
}

function exampleOf(schema: Fields): unknown {
  const [example] = [...listOf(schema.examples), ...listOf(schema.enum)]
  return example ?? validPart(schema, {})
}

import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { type Fields, fieldsOf, isObject, listOf, numberOf, textOf } from '../lib/json/json.ts'
import { exampleOf } from './example.ts'
import { nearMatch } from '../lib/near-match.ts'
import { problemPath } from './problem-path.ts'
import type { SettingsProblem } from './problem.ts'

/** True where the value fits the schema; else each misfit is added to `problems`, with its path. */
export function checkShape<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  problems: SettingsProblem[],
): value is Static<Schema> {
  const misfits = [...misfitsOf(fieldsOf(schema), value, '')]
  // A setting that could not be read for another reason needs no second complaint.
  const known = new Set(problems.map(({ path }) => path))
  problems.push(...misfits.filter(({ path }) => !known.has(path)))
  if (misfits.length > 0 || Value.Check(schema, value)) return misfits.length === 0
  problems.push({ path: '', message: 'The settings do not fit together.' })
  return false
}

type Misfits = Generator<SettingsProblem>

function* misfitsOf(schema: Fields, value: unknown, path: string): Misfits {
  if (value === null) yield { path, message: 'has no value; give it one, or remove the line.' }
  else if (isObject(schema.properties)) yield* misfitsOfObject(schema, schema.properties, value, path)
  else if (isObject(schema.patternProperties)) yield* misfitsOfRecord(schema, value, path)
  else if (schema.type === 'array') yield* misfitsOfList(schema, value, path)
  else if (!fits(schema, value)) yield* misfitsOfChoice(schema, value, path)
}

function* misfitsOfObject(schema: Fields, properties: Fields, value: unknown, path: string): Misfits {
  if (!isObject(value)) return yield wrongShape('an object', schema, value, path)
  for (const [name, item] of Object.entries(value)) {
    const place = problemPath(path, name)
    if (Object.hasOwn(properties, name)) yield* misfitsOf(fieldsOf(properties[name]), item, place)
    else yield { path: place, message: unknownSetting(name, Object.keys(properties)) }
  }
  for (const name of listOf(schema.required))
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      yield { path: problemPath(path, name), message: 'is missing.' }
}

function unknownSetting(name: string, known: readonly string[]): string {
  const near = nearMatch(name, known)
  if (near !== undefined) return `unknown setting; did you mean ${near}?`
  return `unknown setting; known here: ${known.join(', ')}.`
}

function* misfitsOfRecord(schema: Fields, value: unknown, path: string): Misfits {
  if (!isObject(value)) return yield wrongShape('an object', schema, value, path)
  const [entry] = Object.values(fieldsOf(schema.patternProperties))
  for (const [name, item] of Object.entries(value))
    yield* misfitsOf(fieldsOf(entry), item, problemPath(path, name))
}

/** Says what it must be by an example to copy. */
function wrongShape(expected: string, schema: Fields, value: unknown, path: string): SettingsProblem {
  const name = /([^.[\]]+)(\[\d+\])?$/.exec(path)
  const example =
    name === null ? 'port: 9347' : `${name[1]}: ${name[2] ? `[${exampleOf(schema)}]` : exampleOf(schema)}`
  return { path, message: `must be ${expected}, not ${nounOf(value)}; for example “${example}”.` }
}

function* misfitsOfList(schema: Fields, value: unknown, path: string): Misfits {
  if (!Array.isArray(value)) return yield wrongShape('a list', schema, value, path)
  const least = numberOf(schema.minItems) ?? 0
  if (value.length < least) yield { path, message: `must have at least ${least} entry.` }
  for (const [index, item] of value.entries())
    yield* misfitsOf(fieldsOf(schema.items), item, problemPath(path, index))
}

/** A choice between objects is explained by the one whose tag the value has; anything else by its description. */
function* misfitsOfChoice(schema: Fields, value: unknown, path: string): Misfits {
  const choices = listOf(schema.anyOf).map(fieldsOf)
  const meant = isObject(value) ? choices.find((choice) => tagged(choice, value)) : undefined
  if (meant !== undefined) yield* misfitsOf(meant, value, path)
  else yield { path, message: `must be ${expectationOf(schema)}, not ${valueText(schema, value)}.` }
}

function tagged(choice: Fields, value: Fields): boolean {
  return Object.entries(fieldsOf(choice.properties)).some(([name, schema]) => {
    const tag = fieldsOf(schema).const
    return tag !== undefined && tag === value[name]
  })
}

function fits(schema: Fields, value: unknown): boolean {
  // A TypeBox schema is a plain JSON Schema; only its static type is lost on the way down.
  return Value.Check(schema as TSchema, value)
}

function expectationOf(schema: Fields): string {
  const described = textOf(schema.description)
  if (described !== undefined) return described
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`
  if (schema.const !== undefined) return String(schema.const)
  const choices = listOf(schema.anyOf).map(fieldsOf)
  if (choices.length > 0) return choices.map(expectationOf).join(' or ')
  if (schema.type === 'integer') return `a whole number${rangeOf(schema)}`
  if (schema.type === 'number') return `a number${rangeOf(schema)}`
  if (schema.type === 'boolean') return 'true or false'
  return schema.type === 'string' ? 'a text' : 'an object'
}

function rangeOf(schema: Fields): string {
  const { minimum, maximum } = schema
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  return minimum === undefined ? '' : ` of at least ${minimum}`
}

/** The value itself where it cannot be a key: a number, an amount with its unit, a short plain word. */
function valueText(schema: Fields, value: unknown): string {
  if (!isPublic(schema)) return nounOf(value)
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && /^(-?[\d.]{1,12} ?[A-Za-z%]{0,4}|[a-z]{1,12})$/.test(value)
    ? `“${value}”`
    : nounOf(value)
}

/** Whether values of this setting may be shown: numbers, choices and texts of a fixed form, but for addresses. */
function isPublic(schema: Fields): boolean {
  const { type, pattern, anyOf } = schema
  if (Array.isArray(anyOf)) return anyOf.map(fieldsOf).every(isPublic)
  if (type === 'string') return typeof pattern === 'string' && schema.private !== true
  return type === 'integer' || type === 'number' || type === 'boolean' || Array.isArray(schema.enum)
}

/** What the value is, without showing it: it may be a key. */
function nounOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'this text'
  if (typeof value === 'number') return 'this number'
  if (typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'a list' : 'an object'
}

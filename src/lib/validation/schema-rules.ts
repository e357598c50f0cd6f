import { Compile } from 'typebox/schema'
import type { ErrorCode } from '../errors/error-codes.ts'
import { isObject } from '../json/json.ts'
import { isStorable, looksSecret, storableRule } from '../text.ts'
import { joinChoices, type Path, type Problem, quoted } from './problem.ts'

/** The part of JSON Schema that our schemas use. */
export type Rules = {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Rules[]
  readonly properties?: Readonly<Record<string, Rules>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Rules | boolean
  readonly items?: Rules
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

type Check = (value: unknown) => boolean

const checks = new WeakMap<Rules, Check>()

/** Returns whether the value follows the rules, which are compiled at their first use. */
export function accepts(rules: Rules, value: unknown): boolean {
  const check = checks.get(rules) ?? compile(rules)
  return check(value)
}

function compile(rules: Rules): Check {
  const validator = Compile(rules)
  const check: Check = (value) => validator.Check(value)
  checks.set(rules, check)
  return check
}

/** Returns the branches of a union, also nested ones, without the `null` that means an absent field. */
export function alternatives(rules: Rules): readonly Rules[] {
  if (rules.anyOf === undefined) return [rules]
  const branches = rules.anyOf.flatMap(alternatives)
  const others = branches.filter((branch) => branch.type !== 'null')
  return others.length === 0 ? branches : others
}

type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** Returns the JSON type of a value. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object'
}

/** Returns the JSON types that the rules allow; all types if the rules do not restrict them. */
export function jsonTypesOf(rules: Rules): readonly JsonType[] {
  if (rules.type === 'integer') return ['number']
  if (rules.type !== undefined) return [rules.type as JsonType]
  const values = valuesOf(rules)
  return values === undefined ? allTypes : [...new Set(values.map(jsonTypeOf))]
}

const allTypes: readonly JsonType[] = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** Returns the values that the branches allow together; undefined if a branch allows more than an enumeration. */
export function allowedValues(branches: readonly Rules[]): readonly unknown[] | undefined {
  const lists = branches.map(valuesOf)
  return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? [])
}

function valuesOf(rules: Rules): readonly unknown[] | undefined {
  return rules.const === undefined ? rules.enum : [rules.const]
}

/** Returns the first bound that the value itself breaks, without looking at its elements. */
export function brokenBound(rules: Rules, value: unknown, path: Path): Problem | undefined {
  if (typeof value === 'number') return wrongNumber(rules, value, path)
  if (typeof value === 'string') return wrongLength(rules, value, path) ?? wrongText(rules, value, path)
  if (Array.isArray(value)) return wrongCount(rules, value.length, path)
  return isObject(value) ? wrongWidth(rules, Object.keys(value).length, path) : undefined
}

/** Returns the problem of a value whose type no branch allows. */
export function wrongType(branches: readonly Rules[], value: unknown, path: Path): Problem {
  const types = branches.flatMap((branch): readonly string[] => {
    return branch.type === 'integer' ? ['integer'] : jsonTypesOf(branch)
  })
  const must = `be ${joinChoices([...new Set(types.map(withArticle))])}`
  return { path, code: 'invalid_type', must, got: typeText(value) }
}

/** Returns the problem of a value that is not one of the allowed ones. */
export function wrongChoice(allowed: readonly unknown[], value: unknown, path: Path): Problem {
  const must = `be ${allowed.length === 1 ? '' : 'one of '}${joinChoices(allowed.map(quoted))}`
  return { path, code: 'invalid_value', must, got: quoted(value) }
}

function wrongNumber(rules: Rules, value: number, path: Path): Problem | undefined {
  const kind = rules.type === 'integer' ? 'integer' : 'decimal'
  // JSON may contain 1e999, which is parsed as Infinity.
  if (kind === 'integer' && Number.isFinite(value) && !Number.isInteger(value))
    return wrongType([rules], value, path)
  const bound = (code: 'below_min_value' | 'above_max_value', range: string): Problem => {
    return { path, code: `${kind}_${code}`, must: `be ${range}`, got: String(value) }
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = rules
  if (minimum !== undefined && value < minimum) return bound('below_min_value', `at least ${minimum}`)
  if (maximum !== undefined && value > maximum) return bound('above_max_value', `at most ${maximum}`)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return bound('below_min_value', `greater than ${exclusiveMinimum}`)
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return bound('above_max_value', `less than ${exclusiveMaximum}`)
  if (Number.isFinite(value)) return undefined
  return bound(value > 0 ? 'above_max_value' : 'below_min_value', 'a finite number')
}

function wrongLength({ minLength = 0, maxLength = Infinity }: Rules, value: string, path: Path) {
  // Characters are counted only where they can matter.
  if (minLength === 0 && value.length <= maxLength) return undefined
  const codes = ['string_below_min_length', 'string_above_max_length'] as const
  return wrongSize(charactersOf(value), [minLength, maxLength], 'character', codes, path)
}

function wrongText({ pattern }: Rules, value: string, path: Path): Problem | undefined {
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined
  const must = isStorable(value) ? `match ${pattern}` : storableRule
  return { path, code: 'invalid_value', must, got: quoted(value) }
}

/** Counts characters, not UTF-16 code units. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function wrongCount({ minItems = 0, maxItems = Infinity }: Rules, length: number, path: Path) {
  const below = length === 0 ? 'empty_array' : 'array_below_min_length'
  return wrongSize(length, [minItems, maxItems], 'item', [below, 'array_above_max_length'], path)
}

function wrongWidth({ minProperties = 0, maxProperties = Infinity }: Rules, count: number, path: Path) {
  const codes = ['invalid_value', 'object_above_max_properties'] as const
  // The fields of an object of ours have fixed names; the keys of another one are the client's.
  const noun = minProperties > 0 ? 'field' : 'key'
  return wrongSize(count, [minProperties, maxProperties], noun, codes, path)
}

function wrongSize(
  size: number,
  [min, max]: readonly [number, number],
  noun: string,
  [below, above]: readonly [ErrorCode, ErrorCode],
  path: Path,
): Problem | undefined {
  if (size < min) return { path, code: below, must: `have at least ${counted(min, noun)}`, got: String(size) }
  if (size <= max) return undefined
  return { path, code: above, must: `have at most ${counted(max, noun)}`, got: String(size) }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

/** Names the type, and the value itself if it is a word or a number: a longer text can be part of a prompt. */
function typeText(value: unknown): string {
  if (typeof value === 'number')
    return `${Number.isInteger(value) ? 'an integer' : 'a decimal number'} (${value})`
  const type = withArticle(jsonTypeOf(value))
  if (typeof value === 'boolean') return `${type} (${value})`
  return typeof value === 'string' && /^[\w.+-]{1,20}$/.test(value) && !looksSecret(value)
    ? `${type} (${quoted(value)})`
    : type
}

function withArticle(noun: string): string {
  if (noun === 'null') return noun
  return /^[aio]/.test(noun) ? `an ${noun}` : `a ${noun}`
}

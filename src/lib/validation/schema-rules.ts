import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

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
  readonly maxProperties?: number
  readonly minLength?: number
  readonly maxLength?: number
  /** That of `StorableText`: our schemas have no other. */
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
  const validator = Compile(rules as TSchema)
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

/** The types of JSON values. */
export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

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

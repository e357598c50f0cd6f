import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** JSON Schema as far as our schemas use it. */
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
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

type Check = (value: unknown) => boolean

const checks = new WeakMap<Rules, Check>()

/** Whether the value keeps the rules; they are compiled when they are first asked about. */
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

/** The branches of a union, nested ones too, without the null that stands for an absent field. */
export function alternatives(rules: Rules): readonly Rules[] {
  if (rules.anyOf === undefined) return [rules]
  const branches = rules.anyOf.flatMap(alternatives)
  const others = branches.filter((branch) => branch.type !== 'null')
  return others.length === 0 ? branches : others
}

/** What a JSON value can be. */
export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** The JSON type of a value. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object'
}

/** The JSON types that can keep the rules; all of them where the rules name none. */
export function jsonTypesOf(rules: Rules): readonly JsonType[] {
  if (rules.type === 'integer') return ['number']
  if (rules.type !== undefined) return [rules.type as JsonType]
  const values = valuesOf(rules)
  return values === undefined ? everyType : [...new Set(values.map(jsonTypeOf))]
}

const everyType: readonly JsonType[] = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** The values that the branches allow together, if each of them allows certain values only. */
export function allowedValues(branches: readonly Rules[]): readonly unknown[] | undefined {
  const lists = branches.map(valuesOf)
  return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? [])
}

function valuesOf(rules: Rules): readonly unknown[] | undefined {
  return rules.const === undefined ? rules.enum : [rules.const]
}

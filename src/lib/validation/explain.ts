import type { TSchema } from 'typebox'
import { type ApiError, badRequest } from '../errors/errors.ts'
import { type Path, type Problem, nameOf, sentenceOf } from './wording.ts'
import { brokenBound, wrongChoice, wrongType } from './explain-rules.ts'
import {
  type Rules,
  accepts,
  allowedValues,
  alternatives,
  jsonTypeOf,
  jsonTypesOf,
} from './explain-schema.ts'
import { type Fields, fieldsOf, isObject } from '../json/json.ts'

/**
 * The 400 for a value that breaks its schema. It goes down to the smallest broken part with compiled checks and
 * reads only that rule by rule, so that one bad message among thousands costs no more than a check of them all.
 */
export function explain(schema: TSchema, value: unknown): ApiError {
  // A TypeBox schema is plain JSON Schema.
  const problem = problemAt(schema as Rules, value, [])
  const { model } = fieldsOf(value)
  const log = { model: typeof model === 'string' ? model : undefined }
  return badRequest(sentenceOf(problem), problem.code, nameOf(problem.path), log)
}

function problemAt(rules: Rules, value: unknown, path: Path): Problem {
  const branches = alternatives(rules)
  const fitting = branches.filter((branch) => jsonTypesOf(branch).includes(jsonTypeOf(value)))
  if (fitting.length === 0) return wrongType(branches, value, path)
  if (isObject(value)) return problemOfTagged(fitting, value, path)
  const allowed = allowedValues(fitting)
  return allowed === undefined ? deepest(fitting, value, path) : wrongChoice(allowed, value, path)
}

/** Objects of several shapes tell which one they mean to be by a word in `type` or `role`. */
function problemOfTagged(branches: readonly Rules[], fields: Fields, path: Path): Problem {
  let meant = branches
  for (const tag of ['type', 'role']) {
    if (!meant.every((branch) => branch.properties?.[tag] !== undefined)) continue
    const matching = meant.filter((branch) => tagMatches(branch, tag, fields))
    if (matching.length === 0) return problemOfTag(meant, tag, fields, path)
    meant = matching
  }
  return deepest(meant, fields, path)
}

function tagMatches(branch: Rules, tag: string, fields: Fields): boolean {
  const rules = branch.properties?.[tag]
  if (!Object.hasOwn(fields, tag)) return branch.required?.includes(tag) !== true
  return rules !== undefined && accepts(rules, fields[tag])
}

function problemOfTag(branches: readonly Rules[], tag: string, fields: Fields, path: Path): Problem {
  const place = [...path, tag]
  if (!Object.hasOwn(fields, tag)) return { path: place, code: 'missing_required_parameter' }
  const anyOf = branches.flatMap((branch) => branch.properties?.[tag] ?? [])
  return problemAt({ anyOf }, fields[tag], place)
}

/** The branch that the value follows furthest is the one that its author had in mind. */
function deepest(branches: readonly Rules[], value: unknown, path: Path): Problem {
  const problems = branches.map((branch) => problemIn(branch, value, path))
  return problems.reduce((best, problem) => (problem.path.length > best.path.length ? problem : best))
}

function problemIn(rules: Rules, value: unknown, path: Path): Problem {
  return brokenBound(rules, value, path) ?? problemWithin(rules, value, path) ?? unexplained(path)
}

function problemWithin(rules: Rules, value: unknown, path: Path): Problem | undefined {
  if (Array.isArray(value)) return problemOfItem(rules, value, path)
  if (isObject(value)) return problemOfField(rules, value, path)
  return undefined
}

function problemOfItem(rules: Rules, list: readonly unknown[], path: Path): Problem | undefined {
  const { items } = rules
  if (items === undefined) return undefined
  const index = list.findIndex((item) => !accepts(items, item))
  return index < 0 ? undefined : problemAt(items, list[index], [...path, index])
}

function problemOfField(rules: Rules, fields: Fields, path: Path): Problem | undefined {
  const missing = rules.required?.find((name) => !Object.hasOwn(fields, name))
  if (missing !== undefined) return { path: [...path, missing], code: 'missing_required_parameter' }
  for (const [name, field] of Object.entries(rules.properties ?? {})) {
    const present = Object.hasOwn(fields, name)
    if (present && !accepts(field, fields[name])) return problemAt(field, fields[name], [...path, name])
  }
  return problemOfOtherField(rules, fields, path)
}

function problemOfOtherField(rules: Rules, fields: Fields, path: Path): Problem | undefined {
  const others = rules.additionalProperties
  if (others === undefined || others === true) return undefined
  const known = rules.properties ?? {}
  for (const name of Object.keys(fields)) {
    if (Object.hasOwn(known, name)) continue
    const place = [...path, name]
    if (others === false) return { path: place, code: 'unknown_parameter' }
    if (!accepts(others, fields[name])) return problemAt(others, fields[name], place)
  }
  return undefined
}

function unexplained(path: Path): Problem {
  return { path, code: 'invalid_value', must: 'be another value', got: 'this one' }
}

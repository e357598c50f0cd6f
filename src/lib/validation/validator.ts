import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { type ApiError, badRequest, invalidJson } from '../errors/errors.ts'
import { type Fields, fieldsOf, isObject } from '../json/json.ts'
import { lazy } from '../lazy.ts'
import { formatPath, type Path, type Problem, problemMessage } from './problem.ts'
import {
  accepts,
  allowedValues,
  alternatives,
  brokenBound,
  jsonTypeOf,
  jsonTypesOf,
  type Rules,
  wrongChoice,
  wrongType,
} from './schema-rules.ts'

/** Validates foreign values by a schema. */
export type Validator<Output> = {
  /** Returns the value unchanged; throws the error that the caller receives if it is invalid. */
  read(value: unknown): Output
  /** Present where the value may be absent, as an empty body is. */
  readonly isOptional?: true
  /** Compiles the schema, which the first `read` does otherwise. */
  compile(): void
  readonly schema: TSchema
}

/**
 * Creates a validator. The schema is compiled at its first use, which takes milliseconds: all of them together would take
 * half the processor time of a start, and 6 MB. `check` throws for rules that the schema cannot express.
 */
export function createValidator<const Schema extends TSchema>(
  schema: Schema,
  check: (value: Static<Schema>) => void = () => {},
): Validator<Static<Schema>> {
  const compiled = lazy(() => Compile(schema))

  function read(value: unknown): Static<Schema> {
    // Parsed JSON is never undefined: the body is empty or not JSON.
    if (value === undefined) throw invalidJson()
    if (!compiled().Check(value)) throw validationError(schema, value)
    // The compiled check has just proved the type.
    check(value as Static<Schema>)
    return value as Static<Schema>
  }
  return { read, compile: () => void compiled(), schema }
}

/**
 * Returns the 400 for a value that does not match its schema. Compiled checks lead to the smallest invalid part, and only
 * that part is checked rule by rule, so that one bad message among thousands costs no more than a check of them all.
 */
export function validationError(schema: TSchema, value: unknown): ApiError {
  // A TypeBox schema is plain JSON Schema.
  const problem = problemAt(schema as Rules, value, [])
  const { model } = fieldsOf(value)
  const log = { model: typeof model === 'string' ? model : undefined }
  return badRequest(problemMessage(problem), problem.code, formatPath(problem.path), log)
}

function problemAt(rules: Rules, value: unknown, path: Path): Problem {
  const branches = alternatives(rules)
  const candidates = branches.filter((branch) => jsonTypesOf(branch).includes(jsonTypeOf(value)))
  if (candidates.length === 0) return wrongType(branches, value, path)
  if (isObject(value)) return problemInUnion(candidates, value, path)
  const allowed = allowedValues(candidates)
  return allowed === undefined
    ? problemInClosestBranch(candidates, value, path)
    : wrongChoice(allowed, value, path)
}

/** The branches of a tagged union differ by `type` or `role`. */
function problemInUnion(branches: readonly Rules[], fields: Fields, path: Path): Problem {
  let candidates = branches
  for (const tag of ['type', 'role']) {
    if (!candidates.every((branch) => branch.properties?.[tag] !== undefined)) continue
    const matching = candidates.filter((branch) => tagMatches(branch, tag, fields))
    if (matching.length === 0) return problemOfTag(candidates, tag, fields, path)
    candidates = matching
  }
  return problemInClosestBranch(candidates, fields, path)
}

function tagMatches(branch: Rules, tag: string, fields: Fields): boolean {
  const rules = branch.properties?.[tag]
  if (!Object.hasOwn(fields, tag)) return branch.required?.includes(tag) !== true
  return rules !== undefined && accepts(rules, fields[tag])
}

function problemOfTag(branches: readonly Rules[], tag: string, fields: Fields, path: Path): Problem {
  const tagPath = [...path, tag]
  if (!Object.hasOwn(fields, tag)) return { path: tagPath, code: 'missing_required_parameter' }
  const anyOf = branches.flatMap((branch) => branch.properties?.[tag] ?? [])
  return problemAt({ anyOf }, fields[tag], tagPath)
}

/** Returns the problem with the longest path: the value matches that branch furthest, so it was likely meant. */
function problemInClosestBranch(branches: readonly Rules[], value: unknown, path: Path): Problem {
  const problems = branches.map((branch) => problemIn(branch, value, path))
  return problems.reduce((best, problem) => (problem.path.length > best.path.length ? problem : best))
}

function problemIn(rules: Rules, value: unknown, path: Path): Problem {
  return brokenBound(rules, value, path) ?? problemWithin(rules, value, path) ?? unknownProblem(path)
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
    const fieldPath = [...path, name]
    if (others === false) return { path: fieldPath, code: 'unknown_parameter' }
    if (!accepts(others, fields[name])) return problemAt(others, fields[name], fieldPath)
  }
  return undefined
}

function unknownProblem(path: Path): Problem {
  return { path, code: 'invalid_value', must: 'match its schema', got: 'this value' }
}

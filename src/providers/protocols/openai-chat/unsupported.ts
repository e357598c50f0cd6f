import { type Parameter, parameters } from '../../../domain/generation/parameters.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import { isObject } from '../../../lib/json/json.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Body, Dialect } from './dialect.ts'

/** The body under the provider's field names, without what the provider refuses. */
export function keepTaken(
  body: Body,
  dialect: Dialect,
  generation: Generation,
  target: Target,
  warn: Warn,
): Body {
  const refusedByModel = dialect.refusedByModel?.(target, generation) ?? []
  const kept = new Map<string, unknown>()
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value === undefined) continue
    const field = fieldFor(name, dialect)
    const forModel = refusedByModel.includes(field)
    if (takes(dialect, field) && !forModel) kept.set(field, value)
    else if (!changesNothing(name, value))
      warn({ what: 'Parameter', name, by: forModel ? target.model : dialect.name })
  }
  // Not by assignments: a key named `__proto__` stays a key.
  return Object.fromEntries(kept)
}

/** The generation parameters that the dialect carries. */
export function carriedParameters(dialect: Dialect): ReadonlySet<Parameter> {
  return new Set(parameters.filter((name) => takes(dialect, fieldFor(name, dialect))))
}

function fieldFor(name: string, { renames }: Dialect): string {
  return renames && Object.hasOwn(renames, name) ? (renames[name] ?? name) : name
}

function takes(dialect: Dialect, field: string): boolean {
  if (dialect.only) return dialect.only.has(field)
  return dialect.refused?.has(field) !== true
}

const neutral: ReadonlyMap<string, unknown> = new Map([
  ['temperature', 1],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['n', 1],
])

function changesNothing(name: string, value: unknown): boolean {
  if (value === null) return true
  if (name === 'logit_bias') return isObject(value) && Object.keys(value).length === 0
  return neutral.has(name) && neutral.get(name) === value
}

import { type Parameter, parameters } from '../../../generation/parameters.ts'
import type { Generation } from '../../../generation/request.ts'
import { isObject } from '../../../lib/json.ts'
import type { Target, Warn } from '../wire.ts'
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
  const kept: Body = {}
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value === undefined) continue
    const field = dialect.renames?.[name] ?? name
    const forModel = refusedByModel.includes(field)
    if (takes(dialect, field) && !forModel) kept[field] = value
    else if (!changesNothing(name, value)) {
      warn(`${forModel ? target.model : dialect.name} takes no ${name}; it was left out.`)
    }
  }
  return kept
}

/** The generation parameters that the dialect carries. */
export function carriedParameters(dialect: Dialect): ReadonlySet<Parameter> {
  return new Set(parameters.filter((name) => takes(dialect, dialect.renames?.[name] ?? name)))
}

function takes(dialect: Dialect, field: string): boolean {
  if (dialect.only) return dialect.only.has(field)
  return dialect.refused?.has(field) !== true
}

const neutral: Body = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, n: 1 }

function changesNothing(name: string, value: unknown): boolean {
  if (value === null) return true
  if (name === 'logit_bias') return isObject(value) && Object.keys(value).length === 0
  return neutral[name] === value
}

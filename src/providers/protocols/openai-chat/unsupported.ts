import { type Parameter, parameters } from '../../../domain/generation/parameters.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import { isObject } from '../../../lib/json/json.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import type { Dialect } from './dialect.ts'

/** Returns the body under the provider's field names, without the fields that the provider does not support. */
export function dropUnsupported(
  body: Body,
  dialect: Dialect,
  generation: Generation,
  target: Target,
  warn: Warn,
): Body {
  const unsupportedByModel = dialect.unsupportedByModel?.(target, generation) ?? []
  const supported = new Map<string, unknown>()
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value === undefined) continue
    const field = fieldFor(name, dialect)
    const isModelLimit = unsupportedByModel.includes(field)
    if (isSupported(dialect, field) && !isModelLimit) supported.set(field, value)
    else if (!isNeutral(name, value))
      warn({ what: 'Parameter', name, by: isModelLimit ? target.model : dialect.name })
  }
  // Not by assignment: a key named `__proto__` stays a key.
  return Object.fromEntries(supported)
}

/** The generation parameters that the dialect supports. */
export function supportedParameters(dialect: Dialect): ReadonlySet<Parameter> {
  return new Set(parameters.filter((name) => isSupported(dialect, fieldFor(name, dialect))))
}

function fieldFor(name: string, { renames }: Dialect): string {
  return renames && Object.hasOwn(renames, name) ? (renames[name] ?? name) : name
}

function isSupported(dialect: Dialect, field: string): boolean {
  if (dialect.supported) return dialect.supported.has(field)
  return dialect.unsupported?.has(field) !== true
}

const neutralValues: ReadonlyMap<string, unknown> = new Map([
  ['temperature', 1],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['n', 1],
])

function isNeutral(name: string, value: unknown): boolean {
  if (value === null) return true
  if (name === 'logit_bias') return isObject(value) && Object.keys(value).length === 0
  return neutralValues.has(name) && neutralValues.get(name) === value
}

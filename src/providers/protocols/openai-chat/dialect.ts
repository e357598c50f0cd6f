import { type Parameter, parameters } from '../../../domain/generation/parameters.ts'
import type { Effort, Generation } from '../../../domain/generation/request.ts'
import { isObject } from '../../../lib/json/json.ts'
import type { Body, Target, Warn } from '../protocol.ts'

/** The differences between one provider's chat completions and plain ones. */
export type Dialect = {
  /** The provider's name in warnings. */
  readonly name: string
  /** The provider's names of body fields that differ, such as `random_seed` for `seed`. */
  readonly renames?: Readonly<Record<string, string>>
  /** Body fields that the provider rejects or ignores, by its own names. */
  readonly unsupported?: ReadonlySet<string>
  /** All body fields of a provider that rejects unknown ones. */
  readonly supported?: ReadonlySet<string>
  /** Further body fields that this model rejects. */
  unsupportedByModel?(target: Target, generation: Generation): readonly string[]
  /** The provider always sends the usage of a stream, and rejects `stream_options`. */
  readonly alwaysSendsUsage?: boolean
  /** The provider does not support the `developer` role. */
  readonly noDeveloperRole?: boolean
  /** Messages and their parts support neither names nor fields beyond the common ones. */
  readonly plainMessages?: boolean
  /** The provider passes the markers of Anthropic's cache on to the models that know them. */
  readonly cacheControl?: boolean
  /** The id of a tool call in the form that the provider accepts. */
  callId?(id: string): string
  /** The body fields for a reasoning effort; undefined where the model has none. */
  effort?(effort: Effort, target: Target): Body | undefined
  /** The last change to the body, for differences that are not a matter of field names. */
  adapt?(body: Body, generation: Generation, target: Target, warn: Warn): Body
  /** The field with state that the provider needs back with the tool calls of an earlier turn. */
  readonly stateField?: StateField
  /** The field with the reasoning of a message, which models of the provider need or use with its tool calls. */
  readonly reasoningField?: string
  /** Responses have no finish reason; `[DONE]` alone marks a complete one. */
  readonly noFinishReason?: boolean
}

/** A field of the message with the tool calls, or of each call. */
export type StateField = { readonly on: 'message' | 'call'; readonly field: string }

/** The field of a message with tool calls that the provider needs back on the next turn. */
export function messageFieldOf({ stateField, reasoningField }: Dialect): string | undefined {
  return stateField?.on === 'message' ? stateField.field : reasoningField
}

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

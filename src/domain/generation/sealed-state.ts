import { fieldsOf, type Json, parseJson, textOf } from '../../lib/json/json.ts'
import type { ValueBudget } from '../../lib/validation/value-budget.ts'

/**
 * The state that a provider wants back, in the form in which a caller keeps it: opaque text that names the provider. It
 * is not encrypted: what must stay secret is encrypted by the provider itself.
 */
export type SealedState = {
  readonly provider: string
  readonly state: Json
  /** The tool call that the state belongs to; absent for the state of reasoning, which belongs to the next call. */
  readonly callId?: string
}

const prefix = 'weir1.'

/** In characters. A caller can write such a text, too: it is parsed only up to this length. */
const maxLength = 4 * 1024 * 1024
/** No provider nests so deep. Deeper JSON could be parsed, but not be serialized. */
const maxDepth = 100
/** Beyond the cheap ones of each object. No provider has so many, and each takes long to parse. */
const maxProperties = 1024

/** Turns the state into opaque text. */
export function sealState({ provider, state, callId }: SealedState): string {
  return prefix + Buffer.from(JSON.stringify({ provider, state, callId })).toString('base64url')
}

/** Whether the text is a sealed state, and not an encrypted content or a signature of a provider. */
export function isSealedState(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(prefix)
}

/**
 * The state in the text; undefined for any other text. The states of a request share its budget; throws its 400 if they
 * have too many values.
 */
export function openSealedState(text: string, budget: ValueBudget): SealedState | undefined {
  if (!isSealedState(text) || text.length > maxLength) return undefined
  const json = Buffer.from(text.slice(prefix.length), 'base64url').toString()
  if (budget.take(json, { maxDepth, maxProperties }).broken) return undefined
  const sealed = fieldsOf(parseJson(json))
  const provider = textOf(sealed.provider)
  if (provider === undefined || sealed.state === undefined) return undefined
  const callId = textOf(sealed.callId)
  // The cast is safe: the value was parsed from JSON.
  return { provider, state: sealed.state as Json, ...(callId !== undefined && { callId }) }
}

/** The states of one provider as one: their lists joined by name, and the last one of other values. */
export function joinStates(states: readonly Json[]): Json {
  const lists = new Map<string, Json[]>()
  const others = new Map<string, Json>()
  for (const state of states)
    for (const [name, value] of Object.entries(fieldsOf(state)) as [string, Json][])
      if (Array.isArray(value)) addAll(lists, name, value)
      else others.set(name, value)
  return Object.fromEntries([...others, ...lists])
}

/** Lists that grow in place: a caller may send any number of states. */
function addAll(lists: Map<string, Json[]>, name: string, values: readonly Json[]): void {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  for (const value of values) list.push(value)
}

import type { PastToolCall } from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, type Json, listOf, textOf } from '../../../lib/json/json.ts'

/** The state that is sent back with a tool call: the reasoning items and the phase of the text before it. */
export type CallState = { readonly reasoning: readonly Fields[]; readonly phase?: string }

/**
 * The state of a call of an earlier turn; empty where it is unknown or of another protocol. A caller can write a state:
 * items without reasoning are not sent back.
 */
export function callStateOf(call: PastToolCall | undefined): CallState {
  const { reasoning, phase } = fieldsOf(call?.state)
  const items = listOf(reasoning).filter(isReasoningItem)
  return { reasoning: items.filter((item) => toReasoningState(item) !== undefined), phase: textOf(phase) }
}

function isReasoningItem(item: unknown): item is Fields {
  return isObject(item) && item.type === 'reasoning'
}

/** The state to store with a call; undefined where there is none. */
export function toCallState(reasoning: readonly Json[], phase: string | undefined): Json | undefined {
  if (reasoning.length === 0 && phase === undefined) return undefined
  return { ...(reasoning.length > 0 ? { reasoning } : {}), ...(phase === undefined ? {} : { phase }) }
}

/**
 * A reasoning item in the form in which it can be sent back: without empty fields, except for the required summary.
 * Undefined for an item without reasoning: it refers to an item that the provider has not stored, and would be
 * rejected.
 */
export function toReasoningState(item: Fields): Json | undefined {
  const content = listOf(item.content)
  if (textOf(item.encrypted_content) === undefined && content.length === 0) return undefined
  const fields = Object.entries({ ...item, content: content.length > 0 ? content : undefined })
  // The cast is safe: the item was parsed from JSON.
  return Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined)) as Json
}

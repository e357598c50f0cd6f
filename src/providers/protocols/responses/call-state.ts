import type { PastToolCall } from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, type Json, listOf, textOf } from '../../../lib/json/json.ts'

/** What goes back with a tool call: the reasoning items before it, and the phase of the text before it. */
export type CallState = { readonly reasoning: readonly Fields[]; readonly phase?: string }

/** The state of a call of an earlier turn; an empty one where another format left its own, or none is known. */
export function callStateOf(call: PastToolCall | undefined): CallState {
  const { reasoning, phase } = fieldsOf(call?.state)
  return { reasoning: listOf(reasoning).filter(isObject), phase: textOf(phase) }
}

/** The state to keep with a call; undefined where there is nothing to keep. */
export function keptState(reasoning: readonly Json[], phase: string | undefined): Json | undefined {
  if (reasoning.length === 0 && phase === undefined) return undefined
  return { ...(reasoning.length > 0 ? { reasoning } : {}), ...(phase === undefined ? {} : { phase }) }
}

/**
 * A reasoning item as it can go back: without empty fields, but for the summary, which has to be there. One that
 * holds no reasoning only refers to what the provider has not stored, and would be refused.
 */
export function keptReasoning(item: Fields): Json | undefined {
  const content = listOf(item.content)
  if (textOf(item.encrypted_content) === undefined && content.length === 0) return undefined
  const told = Object.entries({ ...item, content: content.length > 0 ? content : undefined })
  // It came out of JSON, so JSON can say it.
  return Object.fromEntries(told.filter(([, value]) => value !== null && value !== undefined)) as Json
}

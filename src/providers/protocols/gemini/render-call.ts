import type { PastToolCall } from '../../../domain/generation/request.ts'
import { type Fields, isObject, parseJson } from '../../../lib/json/json.ts'
import { tooDeep } from '../../../lib/validation/nesting.ts'
import type { Warn } from '../protocol.ts'
import type { Body, Dialect } from './dialect.ts'

/** A tool call of an earlier turn, with the signature that came with it. */
export function renderCall(call: PastToolCall, dialect: Dialect, warn: Warn): Body {
  const { id, name, state } = call
  const functionCall = {
    ...(dialect.callIds ? { id } : {}),
    name,
    args: renderArguments(call, dialect, warn),
  }
  // Only under Gemini's own name: the turn may have been answered by another provider.
  const signature = isObject(state) ? state.thoughtSignature : undefined
  return signature === undefined ? { functionCall } : { functionCall, thoughtSignature: signature }
}

/** The result of the call with this name. */
export function renderResult(callId: string, name: string, text: string, dialect: Dialect): Body {
  const response = objectIn(text) ?? { output: text }
  return { functionResponse: { ...(dialect.callIds ? { id: callId } : {}), name, response } }
}

function renderArguments(call: PastToolCall, dialect: Dialect, warn: Warn): Fields {
  const { arguments: text } = call
  if (text.trim() === '') return {}
  const values = objectIn(text)
  if (!values)
    warn(`${dialect.name} takes the arguments of a tool call as an object only; others went as text in one.`)
  return values ?? { arguments: text }
}

/** What is nested deeper than any tool needs stays a text: it would be written again by recursion. */
const deepest = 200

function objectIn(text: string): Fields | undefined {
  if (tooDeep(text, deepest)) return undefined
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

import { appendBlock } from '../../../domain/generation/answer-limits.ts'
import { type Fields, fieldsOf, type Json, listOf, textOf } from '../../../lib/json/json.ts'

/** Returns the state of a turn's tool calls with one more piece of it: text, or a list of reasoning details. */
export function appendState(state: Json | undefined, piece: unknown): Json | undefined {
  if (typeof piece === 'string')
    return piece === '' ? state : (typeof state === 'string' ? state : '') + piece
  if (!Array.isArray(piece)) return state
  return piece.reduce(appendDetail, Array.isArray(state) ? state : [])
}

/** Returns the state with the new id of its call: reasoning details may refer to their call by its id. */
export function renameCallInState(callState: Json, from: string, to: string): Json {
  const fields = Object.entries(fieldsOf(callState)).map(([field, state]) => {
    const details = listOf(state).map((detail) =>
      fieldsOf(detail).id === from ? { ...fieldsOf(detail), id: to } : detail,
    )
    return [field, Array.isArray(state) ? details : state]
  })
  return asJson(Object.fromEntries(fields))
}

/** Fragments of one detail are sent back joined; encrypted details are received complete. */
function appendDetail(details: readonly Json[], piece: Fields): readonly Json[] {
  const last = fieldsOf(details.at(-1))
  const field = typeof last.text === 'string' ? 'text' : 'summary'
  const text = last[field]
  const isSame = last.type === piece.type && last.index === piece.index && typeof text === 'string'
  if (!isSame) return appendBlock(details, asJson(piece))
  const merged = { ...last, ...withoutEmpty(piece), [field]: text + (textOf(piece[field]) ?? '') }
  return [...details.slice(0, -1), asJson(merged)]
}

function withoutEmpty(piece: Fields): Fields {
  return Object.fromEntries(
    Object.entries(piece).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** The cast is safe: the fields were parsed from JSON. */
function asJson(fields: Fields): Json {
  return fields as Json
}

import { type Fields, fieldsOf, type Json, listOf, textOf } from '../../../lib/json/json.ts'

/** What goes back with a turn's tool calls, with one more piece of it: text, or a list of reasoning details. */
export function keepPiece(kept: Json | undefined, piece: unknown): Json | undefined {
  if (typeof piece === 'string') return piece === '' ? kept : (typeof kept === 'string' ? kept : '') + piece
  if (!Array.isArray(piece)) return kept
  return piece.reduce(addDetail, Array.isArray(kept) ? kept : [])
}

/** The state with the new id of its call: details of reasoning may say by an id which call they led to. */
export function renamedIn(state: Json, from: string, to: string): Json {
  const fields = Object.entries(fieldsOf(state)).map(([field, kept]) => {
    const details = listOf(kept).map((detail) =>
      fieldsOf(detail).id === from ? { ...fieldsOf(detail), id: to } : detail,
    )
    return [field, Array.isArray(kept) ? details : kept]
  })
  return asJson(Object.fromEntries(fields))
}

/** A detail comes in pieces that are to go back as one, but for encrypted ones, which come whole. */
function addDetail(details: readonly Json[], piece: Fields): readonly Json[] {
  const last = fieldsOf(details.at(-1))
  const field = typeof last.text === 'string' ? 'text' : 'summary'
  const text = last[field]
  const same = last.type === piece.type && last.index === piece.index && typeof text === 'string'
  if (!same) return [...details, asJson(piece)]
  const longer = { ...last, ...told(piece), [field]: text + (textOf(piece[field]) ?? '') }
  return [...details.slice(0, -1), asJson(longer)]
}

function told(piece: Fields): Fields {
  return Object.fromEntries(
    Object.entries(piece).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** It came out of JSON, so JSON can say it. */
function asJson(fields: Fields): Json {
  return fields as Json
}

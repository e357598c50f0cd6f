import type { Warn } from '../protocol.ts'
import type { Body, Dialect } from './dialect.ts'
import type { Turn } from './render-contents.ts'

/** Google's own word for a call of which no signature is known. */
const unsigned = 'skip_thought_signature_validator'

/** The turns with a signature on the first call of every step since the user last spoke. */
export function signSteps(turns: readonly Turn[], dialect: Dialect, warn: Warn): readonly Turn[] {
  const begin = turns.findLastIndex((turn) => turn.role === 'user' && !turn.parts.some(answersCall))
  return turns.map((turn, index) => (index > begin ? signFirst(turn, dialect, warn) : turn))
}

function answersCall(part: Body): boolean {
  return part.functionResponse !== undefined
}

/** The other calls of a step never have one. */
function signFirst(turn: Turn, dialect: Dialect, warn: Warn): Turn {
  const first = turn.parts.findIndex((part) => part.functionCall)
  const part = turn.parts[first]
  if (!part || part.thoughtSignature !== undefined) return turn
  warn(`The reasoning behind an earlier tool call is not known here; ${dialect.name} goes on without it.`)
  return { ...turn, parts: turn.parts.with(first, { ...part, thoughtSignature: unsigned }) }
}

import { createHash } from 'node:crypto'
import { randomText } from '../../../lib/id.ts'

/** In characters: OpenAI refuses the id of a call that is longer. */
const longest = 64

/** The id of a call as providers take it: one that is too long becomes another, always the same for the same. */
export function renderCallId(id: string): string {
  if (id.length <= longest) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

/**
 * The provider's id of a call, unless it only counts the calls of its answer (`call_0`): what is kept by an id
 * would be mixed up with that of other answers.
 */
export function parseCallId(id: string, taken: readonly string[]): string {
  return /^\D*\d{0,3}$/.test(id) || taken.includes(id) ? `call_${randomText(24)}` : id
}

import { createHash } from 'node:crypto'

/** In characters: OpenAI refuses the id of a call that is longer. */
const longest = 64

/** The id of a call as providers take it: one that is too long becomes another, always the same for the same. */
export function renderCallId(id: string): string {
  if (id.length <= longest) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

import { createHash } from 'node:crypto'

/** The id in the form that Anthropic takes; one of another form becomes another, always the same. */
export function renderCallId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

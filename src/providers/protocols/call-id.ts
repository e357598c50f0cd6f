import type { ToolCall } from '../../domain/generation/events.ts'
import { randomText } from '../../lib/id.ts'

/** An id for a tool call that no other call has. */
export function newCallId(): string {
  return `call_${randomText(24)}`
}

/**
 * True for an id that only counts the calls of its answer, as `call_0` and `tool_0_search` do. It comes again in
 * other answers, and what is kept by it would be mixed up.
 */
export function onlyCounts({ id, name }: Pick<ToolCall, 'id' | 'name'>): boolean {
  const words = id.replaceAll(name, '').split(/[^a-z\d]+/i)
  return words.every((word) => /^[a-z]*\d{0,3}$/i.test(word))
}

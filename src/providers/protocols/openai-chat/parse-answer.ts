import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import { addFinish, addMessage, choiceNumber, emptyChoice, endCalls, toFinish } from './choice.ts'
import { readContent } from './content.ts'
import type { Dialect } from './dialect.ts'
import { parseError, tellsError } from './error.ts'
import { complaintIn } from './finish.ts'
import { parseTier, parseUsage } from './usage.ts'

/** The events of a whole chat completion. */
export function parseAnswer(dialect: Dialect, body: unknown): GenerationEvent[] {
  if (!isObject(body) || tellsError(body) || listOf(body.choices).length === 0) {
    return [{ type: 'failure', complaint: parseError(body) }]
  }
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  const tier = textOf(body.service_tier)
  if (tier !== undefined) events.push({ type: 'tier', tier: parseTier(tier) })
  for (const item of listOf(body.choices)) {
    const entry = fieldsOf(item)
    const complaint = complaintIn(entry)
    if (complaint) return [...events, { type: 'failure', complaint }]
    finishes.push(readChoice(dialect, entry, events))
  }
  const usage = parseUsage(body)
  return [...events, ...(usage ? [{ type: 'usage', usage } as const] : []), ...finishes]
}

/** Adds what the choice says; its finish comes back. A body that is whole needs no word to say so. */
function readChoice(dialect: Dialect, entry: Fields, events: GenerationEvent[]): GenerationEvent {
  const number = choiceNumber(entry.index)
  const message = fieldsOf(entry.message)
  const word = textOf(entry.finish_reason) ?? 'stop'
  readContent(message, number, events)
  const choice = addFinish(addMessage(emptyChoice, number, message, dialect, events), word)
  endCalls(choice, number, dialect, events)
  return toFinish(choice, number, word)
}

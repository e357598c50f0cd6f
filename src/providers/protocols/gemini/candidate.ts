import type { GenerationEvent, ToolCall } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, type Json, listOf, textOf } from '../../../lib/json/json.ts'
import { emitWholeCall, newCallId, onlyCounts } from '../tool-call.ts'
import { finishFor } from './finish.ts'

/** One of the answers to a request, as far as it will still be needed. */
export type Candidate = {
  /** The ids of its tool calls. */
  readonly ids: readonly string[]
  /** Gemini's word for the finish. */
  readonly finish?: string
}

/** A candidate of which nothing has come. */
export const emptyCandidate: Candidate = { ids: [] }

/** No model gives more than 128 candidates; a number from nowhere must not make a huge list. */
export function candidateNumber(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 128 ? index : 0
}

/** Adds what a piece of the candidate says; the same object where nothing of it needs remembering. */
export function readCandidate(
  known: Candidate,
  piece: Fields,
  choice: number,
  events: GenerationEvent[],
): Candidate {
  let ids = known.ids
  for (const item of listOf(fieldsOf(piece.content).parts)) {
    const part = fieldsOf(item)
    if (typeof part.text === 'string') addText(part.text, part.thought === true, choice, events)
    if (!isObject(part.functionCall)) continue
    const state = stateOf(part)
    const call = toCall(part.functionCall, state, ids)
    if (!call) continue
    emitWholeCall(call, state, { choice, index: ids.length }, events)
    ids = [...ids, call.id]
  }
  const finish = textOf(piece.finishReason) ?? known.finish
  return ids === known.ids && finish === known.finish ? known : { ids, finish }
}

/** The end of a finished candidate. */
export function toFinish({ ids }: Candidate, choice: number, word: string): GenerationEvent {
  return { type: 'finish', choice, reason: finishFor(word, ids.length > 0) }
}

function addText(text: string, thought: boolean, choice: number, events: GenerationEvent[]): void {
  if (text !== '') events.push({ type: thought ? 'reasoning' : 'text', choice, text })
}

/** Calls come whole. Many models give them no id, and one that is taken would name two calls. */
function toCall(called: Fields, state: Json | undefined, taken: readonly string[]): ToolCall | undefined {
  const name = textOf(called.name)
  if (name === undefined) return undefined
  const own = textOf(called.id)
  const given = own === undefined || taken.includes(own) ? newCallId() : own
  const id = state !== undefined && onlyCounts({ id: given, name }) ? newCallId() : given
  return { id, name, arguments: JSON.stringify(called.args ?? {}) }
}

function stateOf(part: Fields): Json | undefined {
  const thoughtSignature = textOf(part.thoughtSignature)
  return thoughtSignature === undefined ? undefined : { thoughtSignature }
}

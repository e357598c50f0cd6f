import type { GenerationEvent, ToolCall } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, type Json, listOf, textOf } from '../../../lib/json/json.ts'
import { emitCompleteCall, newCallId, isCounterId } from '../tool-call.ts'
import { finishFor } from './finish.ts'

/** The part of a candidate that has been received so far and is still needed. */
export type Candidate = {
  /** The ids of its tool calls. */
  readonly callIds: readonly string[]
  /** Gemini's finish reason. */
  readonly finish?: string
}

/** A candidate before its first chunk. */
export const emptyCandidate: Candidate = { callIds: [] }

/** The index of a candidate, below 128: no model returns more, and an invalid index must not make a huge list. */
export function candidateIndex(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 128 ? index : 0
}

/** Emits the content of a chunk of the candidate. Returns the candidate, the same object where nothing changed. */
export function readCandidate(
  previous: Candidate,
  piece: Fields,
  choice: number,
  events: GenerationEvent[],
): Candidate {
  let callIds = previous.callIds
  for (const item of listOf(fieldsOf(piece.content).parts)) {
    const part = fieldsOf(item)
    if (typeof part.text === 'string') addText(part.text, part.thought === true, choice, events)
    if (!isObject(part.functionCall)) continue
    const state = stateOf(part)
    const call = toCall(part.functionCall, state, callIds)
    if (!call) continue
    emitCompleteCall(call, state, { choice, index: callIds.length }, events)
    callIds = [...callIds, call.id]
  }
  const finish = textOf(piece.finishReason) ?? previous.finish
  return callIds === previous.callIds && finish === previous.finish ? previous : { callIds, finish }
}

/** The `finish` event of a candidate. */
export function toFinish({ callIds }: Candidate, choice: number, reason: string): GenerationEvent {
  return { type: 'finish', choice, reason: finishFor(reason, callIds.length > 0) }
}

function addText(text: string, isThought: boolean, choice: number, events: GenerationEvent[]): void {
  if (text !== '') events.push({ type: isThought ? 'reasoning' : 'text', choice, text })
}

/** Calls are received complete. Many models send no id, or the same id for two calls; those get a new one. */
function toCall(
  functionCall: Fields,
  state: Json | undefined,
  taken: readonly string[],
): ToolCall | undefined {
  const name = textOf(functionCall.name)
  if (name === undefined) return undefined
  const providerId = textOf(functionCall.id)
  const callId = providerId === undefined || taken.includes(providerId) ? newCallId() : providerId
  const id = state !== undefined && isCounterId({ id: callId, name }) ? newCallId() : callId
  return { id, name, arguments: JSON.stringify(functionCall.args ?? {}) }
}

function stateOf(part: Fields): Json | undefined {
  const thoughtSignature = textOf(part.thoughtSignature)
  return thoughtSignature === undefined ? undefined : { thoughtSignature }
}

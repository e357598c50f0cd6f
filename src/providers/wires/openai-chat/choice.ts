import type { GenerationEvent, ToolCallEvent } from '../../../generation/events.ts'
import { type Fields, type Json, listOf, textOf } from '../../../lib/json.ts'
import { newCallId, onlyCounts } from '../call-id.ts'
import type { Dialect, Echo } from './dialect.ts'
import { keepPiece, renamedIn } from './echo.ts'
import { finishFor } from './finish.ts'
import { addPiece, complete, type OpenCall, toToolCall } from './tool-calls.ts'

/** One of the answers to a request, as far as it has come and will still be needed. */
export type Choice = {
  readonly calls: readonly OpenCall[]
  /** How many of the calls have been told. */
  readonly told: number
  /** The provider's word for the finish. */
  readonly finish?: string
  /** What the provider wants to see again with the calls of this turn. */
  readonly kept?: Json
}

/** A choice of which nothing has come. */
export const emptyChoice: Choice = { calls: [], told: 0 }

/** No provider gives more than 128 choices; a number from nowhere must not make a huge list. */
export function choiceNumber(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 128 ? index : 0
}

/** The choice after a piece of its message; the same object where nothing of it needs remembering. */
export function addMessage(choice: Choice, message: Fields, dialect: Dialect): Choice {
  const pieces = listOf(message.tool_calls)
  const kept = keptAfter(choice, message, dialect.echo)
  if (pieces.length === 0 && kept === choice.kept) return choice
  const field = dialect.echo?.on === 'call' ? dialect.echo.field : undefined
  const calls = pieces.reduce<readonly OpenCall[]>(
    (calls, piece) => addPiece(calls, piece, field),
    choice.calls,
  )
  return { ...choice, calls, kept }
}

/** The choice after the provider's word for its finish; an empty one says nothing. */
export function addFinish(choice: Choice, word: unknown): Choice {
  const finish = textOf(word)
  return finish === undefined || finish === choice.finish ? choice : { ...choice, finish }
}

/**
 * Tells the calls that are complete: those before the last with whole arguments, and all of them once the
 * choice is finished. What has to go back with the calls may come after them, so then none is told earlier.
 */
export function tellCalls(
  choice: Choice,
  number: number,
  dialect: Dialect,
  events: GenerationEvent[],
): Choice {
  const finished = choice.finish !== undefined
  if (choice.told === choice.calls.length || (!finished && dialect.echo?.on === 'message')) return choice
  let { told } = choice
  for (const call of choice.calls.slice(told)) {
    if (!finished && (told === choice.calls.length - 1 || !complete(call))) break
    if (call.name !== '')
      events.push(toEvent(call, number, told === 0 ? messageState(choice, dialect) : undefined))
    told += 1
  }
  return told === choice.told ? choice : { ...choice, told }
}

/** The end of a finished choice. */
export function toFinish(choice: Choice, number: number, word: string): GenerationEvent {
  const calls = choice.calls.some((call) => call.name !== '')
  return { type: 'finish', choice: number, reason: finishFor(word, calls) }
}

function keptAfter(choice: Choice, message: Fields, echo: Echo | undefined): Json | undefined {
  return echo?.on === 'message' ? keepPiece(choice.kept, message[echo.field]) : undefined
}

function messageState(choice: Choice, dialect: Dialect): Json | undefined {
  return dialect.echo && choice.kept !== undefined ? { [dialect.echo.field]: choice.kept } : undefined
}

function toEvent(call: OpenCall, choice: number, ofMessage: Json | undefined): ToolCallEvent {
  const state = ofMessage ?? call.state
  const told = toToolCall(call)
  if (state === undefined) return { type: 'tool-call', choice, call: told }
  if (!onlyCounts(told)) return { type: 'tool-call', choice, call: told, state }
  const id = newCallId()
  return { type: 'tool-call', choice, call: { ...told, id }, state: renamedIn(state, told.id, id) }
}

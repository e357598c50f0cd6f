import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, type Json, listOf, textOf } from '../../../lib/json/json.ts'
import type { Dialect, Echo } from './dialect.ts'
import { finishFor } from './finish.ts'
import { keepPiece } from './tool-call-state.ts'
import { addPiece, complete, endOpenCall, noCalls, type ToolCalls } from './tool-calls.ts'

/** One of the answers to a request, as far as it has come and will still be needed. */
export type Choice = {
  readonly calls: ToolCalls
  /** How many of the calls have ended. */
  readonly ended: number
  /** The provider's word for the finish. */
  readonly finish?: string
  /** What the provider wants to see again with the calls of this turn. */
  readonly kept?: Json
}

/** A choice of which nothing has come. */
export const emptyChoice: Choice = { calls: noCalls, ended: 0 }

/** No provider gives more than 128 choices; a number from nowhere must not make a huge list. */
export function choiceNumber(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 128 ? index : 0
}

/**
 * The choice after a piece of its message; the same object where nothing of it needs remembering. Tool calls begin and
 * grow with it.
 */
export function addMessage(
  choice: Choice,
  number: number,
  message: Fields,
  dialect: Dialect,
  events: GenerationEvent[],
): Choice {
  const pieces = listOf(message.tool_calls)
  const kept = keptAfter(choice, message, dialect.echo)
  if (pieces.length === 0 && kept === choice.kept) return choice
  const context = { choice: number, ended: choice.ended, echo: dialect.echo }
  const calls = pieces.reduce<ToolCalls>(
    (calls, piece) => addPiece(calls, piece, context, events),
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
 * Ends the calls that are complete: those before the last with whole arguments, and all of them once the choice is
 * finished. What has to go back with the calls may come after them, so then none ends earlier.
 */
export function endCalls(
  choice: Choice,
  number: number,
  dialect: Dialect,
  events: GenerationEvent[],
): Choice {
  const { begun } = choice.calls
  const finished = choice.finish !== undefined
  if (choice.ended === begun.length || (!finished && dialect.echo?.on === 'message')) return choice
  let { ended } = choice
  for (const call of begun.slice(ended)) {
    if (!finished && (ended === begun.length - 1 || !complete(call))) break
    const ofMessage = ended === 0 ? messageState(choice, dialect) : undefined
    endOpenCall(call, ofMessage, { choice: number, index: ended }, events)
    ended += 1
  }
  return ended === choice.ended ? choice : { ...choice, ended }
}

/** The end of a finished choice. */
export function toFinish(choice: Choice, number: number, word: string): GenerationEvent {
  return { type: 'finish', choice: number, reason: finishFor(word, choice.calls.begun.length > 0) }
}

function keptAfter(choice: Choice, message: Fields, echo: Echo | undefined): Json | undefined {
  return echo?.on === 'message' ? keepPiece(choice.kept, message[echo.field]) : undefined
}

function messageState(choice: Choice, dialect: Dialect): Json | undefined {
  return dialect.echo && choice.kept !== undefined ? { [dialect.echo.field]: choice.kept } : undefined
}

/** Adds what a message, or a piece of one, says in words: reasoning, text, or a refusal. */
export function readContent(said: Fields, choice: number, events: GenerationEvent[]): void {
  const { content } = said
  // Where there are both, they say the same.
  addReasoning(textOf(said.reasoning_content) ?? textOf(said.reasoning), choice, events)
  if (typeof content === 'string') addText(content, choice, events)
  else if (Array.isArray(content)) for (const part of content) readPart(fieldsOf(part), choice, events)
  addText(said.refusal, choice, events)
}

function readPart(part: Fields, choice: number, events: GenerationEvent[]): void {
  if (part.type !== 'thinking') return addText(part.text, choice, events)
  addReasoning(part.thinking, choice, events)
  for (const piece of listOf(part.thinking)) addReasoning(fieldsOf(piece).text, choice, events)
}

function addText(text: unknown, choice: number, events: GenerationEvent[]): void {
  if (typeof text === 'string' && text !== '') events.push({ type: 'text', choice, text })
}

function addReasoning(text: unknown, choice: number, events: GenerationEvent[]): void {
  if (typeof text === 'string' && text !== '') events.push({ type: 'reasoning', choice, text })
}

import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, listOf, textOf } from '../../../lib/json/json.ts'

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

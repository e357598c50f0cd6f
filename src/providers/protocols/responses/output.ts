import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { fieldsOf, listOf } from '../../../lib/json/json.ts'

/** The text of the items of an answer; a refusal is text. */
export function textIn(output: readonly unknown[]): GenerationEvent[] {
  return partsOf(output, 'message', 'content')
    .flatMap(({ text, refusal }) => [text, refusal])
    .filter(saysSomething)
    .map((text) => ({ type: 'text', choice: 0, text }))
}

/** The reasoning of the items of an answer: their summaries, or the reasoning itself where there are none. */
export function reasoningIn(output: readonly unknown[]): GenerationEvent[] {
  const summary = partsOf(output, 'reasoning', 'summary').map(({ text }) => text)
  const content = partsOf(output, 'reasoning', 'content').map(({ text }) => text)
  const text = summary.filter(saysSomething).join('\n\n') || content.filter(saysSomething).join('')
  return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }]
}

function partsOf(output: readonly unknown[], type: string, field: string): Record<string, unknown>[] {
  return output
    .map(fieldsOf)
    .filter((item) => item.type === type)
    .flatMap((item) => listOf(item[field]).map(fieldsOf))
}

function saysSomething(text: unknown): text is string {
  return typeof text === 'string' && text !== ''
}

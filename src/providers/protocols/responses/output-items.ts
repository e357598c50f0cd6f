import { type Fields, fieldsOf, listOf } from '../../../lib/json/json.ts'

/** Separates the parts of a summary. */
export const paragraphEnd = '\n\n'

/** The texts of a message, with refusals; none for another item. */
export function textsIn(item: Fields): readonly string[] {
  if (item.type !== 'message') return []
  return listOf(item.content)
    .map(fieldsOf)
    .flatMap(({ text, refusal }) => [text, refusal])
    .filter(isNonEmpty)
}

/** The annotations of a message; none for another item. */
export function annotationsIn(item: Fields): readonly unknown[] {
  if (item.type !== 'message') return []
  return listOf(item.content).flatMap((part) => listOf(fieldsOf(part).annotations))
}

/** The reasoning of each output item, as a stream has it: the summaries, or the reasoning content where there are none. */
export function reasoningTextsOf(output: readonly unknown[]): readonly (string | undefined)[] {
  const summaries = output.map((item) => reasoningParts(item, 'summary'))
  if (!summaries.some((parts) => parts.length > 0))
    return output.map((item) => reasoningParts(item, 'content').join('') || undefined)
  const first = summaries.findIndex((parts) => parts.length > 0)
  return summaries.map((parts, index) => {
    if (parts.length === 0) return undefined
    return (index > first ? paragraphEnd : '') + parts.join(paragraphEnd)
  })
}

function reasoningParts(value: unknown, field: 'summary' | 'content'): string[] {
  const item = fieldsOf(value)
  if (item.type !== 'reasoning') return []
  return listOf(item[field])
    .map((part) => fieldsOf(part).text)
    .filter(isNonEmpty)
}

function isNonEmpty(text: unknown): text is string {
  return typeof text === 'string' && text !== ''
}

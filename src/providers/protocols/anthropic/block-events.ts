import type { GenerationEvent, ToolCall, ToolCallBegin } from '../../../domain/generation/events.ts'
import { type Fields, fieldsBeside, isObject, listOf } from '../../../lib/json/json.ts'
import type { CallPosition } from '../tool-call.ts'

const textFields: ReadonlySet<string> = new Set(['type', 'text'])

/** Emits the fields of a block of text beyond the common ones. The citations follow as annotations. */
export function emitTextBegin(block: Fields, events: GenerationEvent[]): void {
  const fields = fieldsBeside(textFields, block)
  if (fields === undefined) return
  const begun = listOf(fields.citations).length > 0 ? { ...fields, citations: [] } : fields
  events.push({ type: 'text-begin', choice: 0, providerFields: { protocol: 'anthropic', fields: begun } })
}

/** Emits a citation of the open block of text. */
export function emitAnnotation(annotation: unknown, events: GenerationEvent[]): void {
  if (isObject(annotation)) events.push({ type: 'annotation', choice: 0, protocol: 'anthropic', annotation })
}

const callFields: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input'])

/**
 * The begin of a tool call, with the fields of its block beyond the common ones, such as the code that made the call, and
 * with the id that the provider gave it, where the call has another one.
 */
export function callBegin(
  block: Fields,
  position: CallPosition,
  { id, name }: Pick<ToolCall, 'id' | 'name'>,
  providerId: string | undefined,
): ToolCallBegin {
  const others = fieldsBeside(callFields, block)
  const fields = providerId === undefined || providerId === id ? others : { ...others, id: providerId }
  const begin = { type: 'tool-call-begin', ...position, id, name } as const
  return fields === undefined ? begin : { ...begin, providerFields: { protocol: 'anthropic', fields } }
}

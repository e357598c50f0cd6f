import type { ToolCall, ToolCallBegin } from '../../../domain/generation/events.ts'
import { type Fields, fieldsBeside } from '../../../lib/json/json.ts'
import type { CallPosition } from '../tool-call.ts'

const commonFields: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input'])

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
  const others = fieldsBeside(commonFields, block)
  const fields = providerId === undefined || providerId === id ? others : { ...others, id: providerId }
  const begin = { type: 'tool-call-begin', ...position, id, name } as const
  return fields === undefined ? begin : { ...begin, providerFields: { protocol: 'anthropic', fields } }
}

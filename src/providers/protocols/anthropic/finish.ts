import type { Finish, FinishReason, ProviderFields } from '../../../domain/generation/events.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import { compactionsOf } from './usage.ts'

/** The end of a message, from its last fields and its counts. A call of the output tool is not a tool call. */
export function finishFor(ending: Fields, counts: Fields, hasToolCalls: boolean): Finish {
  const stopReason = textOf(ending.stop_reason) ?? 'end_turn'
  const stopSequence = textOf(ending.stop_sequence)
  const providerFields = providerFieldsOf(ending, counts)
  return {
    type: 'finish',
    choice: 0,
    reason: finishReasons.get(stopReason) ?? (hasToolCalls ? 'tool_calls' : 'stop'),
    ...(!plainStopReasons.has(stopReason) && { providerReason: stopReason }),
    ...(stopSequence !== undefined && { stopSequence }),
    ...(providerFields && { providerFields }),
  }
}

/** The stop reasons that a finish reason expresses completely. */
const plainStopReasons: ReadonlySet<string> = new Set(['end_turn', 'max_tokens', 'tool_use'])

/** All other stop reasons are a normal stop. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
])

const messageFields = ['container', 'stop_details', 'context_management', 'diagnostics']
const usageFields = ['server_tool_use', 'iterations']
/** With compactions, whose tokens are in the iterations alone, and the sums are not what the provider reported. */
const countFields = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
]

/** What no common field expresses: the container of the tools, and how often the provider ran them. */
function providerFieldsOf(ending: Fields, counts: Fields): ProviderFields | undefined {
  const withCounts = compactionsOf(counts).length > 0
  const usage = selected(withCounts ? [...usageFields, ...countFields] : usageFields, counts)
  const fields = { ...selected(messageFields, ending), ...(usage && { usage }) }
  return Object.keys(fields).length === 0 ? undefined : { protocol: 'anthropic', fields }
}

function selected(names: readonly string[], fields: Fields): Fields | undefined {
  const present = names.filter((name) => fields[name] !== undefined && fields[name] !== null)
  return present.length === 0 ? undefined : Object.fromEntries(present.map((name) => [name, fields[name]]))
}

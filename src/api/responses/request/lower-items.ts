import type { AssistantMessage, Message, PastToolCall } from '../../../domain/generation/request.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import type { Item } from './items.ts'
import { lowerContent } from './lower-content.ts'
import type { Warn } from './lower-extras.ts'

/** Lowers the items of a conversation to messages; warns of items that are ignored. */
export function lowerItems(context: readonly Item[], input: readonly Item[], warn: Warn): readonly Message[] {
  const messages: MutableMessage[] = []
  const paired = pairedCalls([...context, ...input])
  const add = (item: Item, path: string) => {
    if (!addItem(messages, item, path, paired, warn)) warnOfIgnored(item, warn)
  }
  context.forEach((item, index) => add(item, `previous_response_id[${index}]`))
  input.forEach((item, index) => add(item, `input[${index}]`))
  return messages
}

function warnOfIgnored({ type }: Item, warn: Warn): void {
  const isCall = type === 'function_call' || type === 'function_call_output'
  warn(isCall ? unpairedCall : { what: 'Item type', name: type })
}

const unpairedCall = 'Function calls without an output, and outputs without a function call, were ignored.'

type MutableMessage =
  | Exclude<Message, AssistantMessage>
  | (Omit<AssistantMessage, 'toolCalls'> & { readonly toolCalls: PastToolCall[] })

/** The ids of the valid calls that an output follows: providers reject one without the other. */
function pairedCalls(items: readonly Item[]): ReadonlySet<string> {
  const calls = new Set<string>()
  const paired = new Set<string>()
  for (const item of items) {
    const { call_id: id } = item
    if (typeof id !== 'string') continue
    if (toCall(item)) calls.add(id)
    else if (item.type === 'function_call_output' && calls.has(id)) paired.add(id)
  }
  return paired
}

/** Appends an item to the messages; false for an item that is ignored. */
function addItem(
  messages: MutableMessage[],
  item: Item,
  path: string,
  paired: ReadonlySet<string>,
  warn: Warn,
): boolean {
  switch (item.type) {
    case 'message':
      messages.push(lowerMessage(item, path, warn))
      return true
    // The reasoning of an earlier response: no model accepts it in this form.
    case 'reasoning':
      return true
    case 'function_call': {
      const call = toCall(item)
      if (!call || !paired.has(call.id)) return false
      addCall(messages, call)
      return true
    }
    case 'function_call_output': {
      const callId = textOf(item.call_id)
      if (callId === undefined || !paired.has(callId)) return false
      messages.push({ role: 'tool', callId, parts: lowerContent(item.output, `${path}.output`, warn) })
      return true
    }
    default:
      return false
  }
}

/** Drops the id and the status of the item, which models do not accept. */
function lowerMessage(item: Item, path: string, warn: Warn): MutableMessage {
  const parts = lowerContent(item.content, `${path}.content`, warn)
  switch (item.role) {
    case 'assistant':
      return { role: item.role, parts, toolCalls: [] }
    case 'system':
    case 'developer':
      return { role: item.role, parts }
    default:
      return { role: 'user', parts }
  }
}

function toCall({ type, call_id, name, arguments: json }: Fields): PastToolCall | undefined {
  const id = textOf(call_id)
  if (type !== 'function_call' || id === undefined || typeof name !== 'string') return undefined
  return typeof json === 'string' ? { id, name, arguments: json } : undefined
}

/** Calls belong to the same assistant turn as the text before them and the calls beside them. */
function addCall(messages: MutableMessage[], call: PastToolCall): void {
  const last = messages.at(-1)
  if (last?.role === 'assistant') last.toolCalls.push(call)
  else messages.push({ role: 'assistant', parts: [], toolCalls: [call] })
}

import type { AssistantMessage, Message, PastToolCall } from '../../../domain/generation/request.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import type { Item } from './items.ts'
import { lowerContent } from './lower-content.ts'
import type { Warn } from './lower-extras.ts'

/** The conversation: what was said before, and what is said now. */
export function lowerItems(context: readonly Item[], input: readonly Item[], warn: Warn): readonly Message[] {
  const messages: GrowingMessage[] = []
  const answered = answeredCalls([...context, ...input])
  const add = (item: Item, path: string) => {
    if (!addItem(messages, item, path, answered, warn)) warnOfItem(item, warn)
  }
  context.forEach((item, index) => add(item, `previous_response_id[${index}]`))
  input.forEach((item, index) => add(item, `input[${index}]`))
  return messages
}

function warnOfItem({ type }: Item, warn: Warn): void {
  const ofCall = type === 'function_call' || type === 'function_call_output'
  warn(ofCall ? halfCall : { what: 'Item type', name: type })
}

const halfCall = 'Function calls without their output, and outputs without their call, were ignored.'

type GrowingMessage =
  | Exclude<Message, AssistantMessage>
  | (Omit<AssistantMessage, 'toolCalls'> & { readonly toolCalls: PastToolCall[] })

/** The ids of the calls that are whole and have a result after them: providers refuse one without the other. */
function answeredCalls(items: readonly Item[]): ReadonlySet<string> {
  const made = new Set<string>()
  const answered = new Set<string>()
  for (const item of items) {
    const { call_id: id } = item
    if (typeof id !== 'string') continue
    if (toCall(item)) made.add(id)
    else if (item.type === 'function_call_output' && made.has(id)) answered.add(id)
  }
  return answered
}

/** False for an item that is left out. */
function addItem(
  messages: GrowingMessage[],
  item: Item,
  path: string,
  answered: ReadonlySet<string>,
  warn: Warn,
): boolean {
  switch (item.type) {
    case 'message':
      messages.push(lowerMessage(item, path, warn))
      return true
    // An echo of what a model thought: none takes it back in this form.
    case 'reasoning':
      return true
    case 'function_call': {
      const call = toCall(item)
      if (!call || !answered.has(call.id)) return false
      addCall(messages, call)
      return true
    }
    case 'function_call_output': {
      const callId = textOf(item.call_id)
      if (callId === undefined || !answered.has(callId)) return false
      messages.push({ role: 'tool', callId, parts: lowerContent(item.output, `${path}.output`, warn) })
      return true
    }
    default:
      return false
  }
}

/** What a message says of itself beside this, as its id and its status, is not for a model. */
function lowerMessage(item: Item, path: string, warn: Warn): GrowingMessage {
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

function toCall({ type, call_id, name, arguments: given }: Fields): PastToolCall | undefined {
  const id = textOf(call_id)
  if (type !== 'function_call' || id === undefined || typeof name !== 'string') return undefined
  return typeof given === 'string' ? { id, name, arguments: given } : undefined
}

/** The text before a call and the calls beside it are of the same turn. */
function addCall(messages: GrowingMessage[], call: PastToolCall): void {
  const last = messages.at(-1)
  if (last?.role === 'assistant') last.toolCalls.push(call)
  else messages.push({ role: 'assistant', parts: [], toolCalls: [call] })
}

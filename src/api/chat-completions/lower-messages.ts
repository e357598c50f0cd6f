import type { Message, Part, PastToolCall } from '../../domain/generation/request.ts'
import { rejectFileId } from '../../http/inputs.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { type Fields, fieldsBeside } from '../../lib/json/json.ts'
import { ChatMessage, type ContentPart, isImagePart, isTextPart } from './message-schema.ts'

/** Lowers the messages of a request; throws the 400 of a message that lacks what its role requires. */
export function lowerMessages(messages: readonly ChatMessage[]): Message[] {
  return messages.map(lowerMessage)
}

function lowerMessage(message: ChatMessage, index: number): Message {
  const { role } = message
  const parts = lowerContent(message.content, index)
  const name = message.name ?? undefined
  const extras = extrasOf(message)
  switch (role) {
    case 'assistant':
      return { role, parts, name, extras, toolCalls: message.tool_calls?.map(lowerToolCall) ?? [] }
    case 'tool':
      return { role, parts, name, extras, callId: requiredCallId(message.tool_call_id, index) }
    default:
      return { role, parts, name, extras }
  }
}

function requiredCallId(id: string | null | undefined, index: number): string {
  if (id != null) return id
  const param = `messages[${index}].tool_call_id`
  const message = `Missing required parameter: '${param}'. A tool message must have the id of its tool call.`
  throw badRequest(message, 'missing_required_parameter', param)
}

function lowerToolCall(call: NonNullable<ChatMessage['tool_calls']>[number]): PastToolCall {
  return { id: call.id, name: call.function.name, arguments: call.function.arguments }
}

function lowerContent(content: ChatMessage['content'], messageIndex: number): Part[] {
  if (content == null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part, partIndex) => lowerPart(part, messageIndex, partIndex))
}

function lowerPart(part: ContentPart, messageIndex: number, partIndex: number): Part {
  if (isTextPart(part)) return { type: 'text', text: part.text, extras: fieldsBeside(textFields, part) }
  if (isImagePart(part)) {
    const { url, detail } = part.image_url
    return { type: 'image', url, detail: detail ?? undefined, extras: fieldsBeside(imageFields, part) }
  }
  rejectFileId(part, `messages[${messageIndex}].content[${partIndex}]`)
  return { type: 'foreign', value: part }
}

const messageFields: ReadonlySet<string> = new Set(Object.keys(ChatMessage.properties))
const textFields: ReadonlySet<string> = new Set(['type', 'text'])
const imageFields: ReadonlySet<string> = new Set(['type', 'image_url'])

/**
 * The properties that the API does not name. Clients send the message of a reply back unchanged: `reasoning` is ignored,
 * because providers take it in other ways, and so are empty values.
 */
function extrasOf(message: ChatMessage): Fields | undefined {
  const fields = fieldsBeside(messageFields, message)
  if (fields === undefined) return undefined
  const extras = Object.entries(fields).filter(
    ([name, value]) => name !== 'reasoning' && value != null && !isEmptyList(value),
  )
  return extras.length > 0 ? Object.fromEntries(extras) : undefined
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

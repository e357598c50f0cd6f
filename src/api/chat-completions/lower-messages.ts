import type { Message, Part, PastToolCall } from '../../domain/generation/request.ts'
import { refuseFileId } from '../../http/file-ids.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { type Fields, fieldsBeside } from '../../lib/json/json.ts'
import { ChatMessage, type ContentPart, isImagePart, isTextPart } from './schema.ts'

/** The conversation, message by message. */
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
  const message = `Missing required parameter: '${param}'. A tool message says which call it answers.`
  throw badRequest(message, 'missing_required_parameter', param)
}

function lowerToolCall(call: NonNullable<ChatMessage['tool_calls']>[number]): PastToolCall {
  return { id: call.id, name: call.function.name, arguments: call.function.arguments }
}

function lowerContent(content: ChatMessage['content'], index: number): Part[] {
  if (content == null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part, place) => lowerPart(part, index, place))
}

function lowerPart(part: ContentPart, index: number, place: number): Part {
  if (isTextPart(part)) return { type: 'text', text: part.text, extras: fieldsBeside(ofText, part) }
  if (isImagePart(part)) {
    const { url, detail } = part.image_url
    return { type: 'image', url, detail: detail ?? undefined, extras: fieldsBeside(ofImage, part) }
  }
  refuseFileId(part, `messages[${index}].content[${place}]`)
  return { type: 'foreign', value: part }
}

const ofMessage: ReadonlySet<string> = new Set(Object.keys(ChatMessage.properties))
const ofText: ReadonlySet<string> = new Set(['type', 'text'])
const ofImage: ReadonlySet<string> = new Set(['type', 'image_url'])

/**
 * Programs send the message of a reply back as it came: with the reasoning, which goes back by another way, and with
 * fields that say nothing.
 */
function extrasOf(message: ChatMessage): Fields | undefined {
  const fields = fieldsBeside(ofMessage, message)
  if (fields === undefined) return undefined
  const told = Object.entries(fields).filter(
    ([name, value]) => name !== 'reasoning' && value != null && !isEmptyList(value),
  )
  return told.length > 0 ? Object.fromEntries(told) : undefined
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

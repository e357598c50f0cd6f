import type { Message, Part, PastToolCall } from '../generation/request.ts'
import { refuseFileId } from '../http/file-ids.ts'
import { badRequest } from '../lib/errors.ts'
import type { Fields } from '../lib/json.ts'
import { type ChatMessage, type ContentPart, isImagePart, isTextPart } from './schema.ts'

/** The conversation, message by message. */
export function lowerMessages(messages: readonly ChatMessage[]): Message[] {
  return messages.map((message, index) => lowerMessage(message, `messages[${index}]`))
}

function lowerMessage(message: ChatMessage, path: string): Message {
  const { role, content, name, tool_calls, tool_call_id, ...rest } = message
  const parts = lowerContent(content, `${path}.content`)
  const said = { parts, name: name ?? undefined, extras: nonEmpty(withoutReplyFields(rest)) }
  switch (role) {
    case 'assistant':
      return { role, ...said, toolCalls: (tool_calls ?? []).map(lowerToolCall) }
    case 'tool':
      return { role, ...said, callId: requiredCallId(tool_call_id, path) }
    default:
      return { role, ...said }
  }
}

function requiredCallId(id: string | null | undefined, path: string): string {
  if (id != null) return id
  const message = `Missing required parameter: '${path}.tool_call_id'. A tool message says which call it answers.`
  throw badRequest(message, 'missing_required_parameter', `${path}.tool_call_id`)
}

function lowerToolCall(call: NonNullable<ChatMessage['tool_calls']>[number]): PastToolCall {
  return { id: call.id, name: call.function.name, arguments: call.function.arguments }
}

function lowerContent(content: ChatMessage['content'], path: string): Part[] {
  if (content == null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part, index) => lowerPart(part, `${path}[${index}]`))
}

function lowerPart(part: ContentPart, path: string): Part {
  if (isTextPart(part)) {
    const { type, text, ...rest } = part
    return { type, text, extras: nonEmpty(rest) }
  }
  if (isImagePart(part)) {
    const { type: _, image_url, ...rest } = part
    return {
      type: 'image',
      url: image_url.url,
      detail: image_url.detail ?? undefined,
      extras: nonEmpty(rest),
    }
  }
  refuseFileId(part, path)
  return { type: 'foreign', value: part }
}

/**
 * Programs send the message of a reply back as it came: with the reasoning, which goes back by another way, and with
 * fields that say nothing.
 */
function withoutReplyFields(fields: Fields): Fields {
  if (Object.keys(fields).length === 0) return fields
  const told = Object.entries(fields).filter(
    ([name, value]) => name !== 'reasoning' && value != null && !isEmptyList(value),
  )
  return Object.fromEntries(told)
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function nonEmpty(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined
}

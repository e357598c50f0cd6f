import type { AssistantMessage, Message, Part, PastToolCall } from '../../../domain/generation/request.ts'
import { type Fields, isObject } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import type { Body, Dialect } from './dialect.ts'

/** The conversation as chat completions have it. */
export function renderMessages(messages: readonly Message[], dialect: Dialect, warn: Warn): readonly Body[] {
  return messages.map((message) => renderMessage(message, dialect, warn))
}

function renderMessage(message: Message, dialect: Dialect, warn: Warn): Body {
  const role = message.role === 'developer' && dialect.noDeveloper ? 'system' : message.role
  const content = renderContent(message, dialect, warn)
  const { name } = message
  // Most say no more than this.
  if (role !== 'tool' && role !== 'assistant' && !message.extras && name === undefined)
    return { role, content }
  return {
    ...fitting(message.extras, messagePath, dialect, warn),
    role,
    content,
    ...(name !== undefined && fitting({ name }, messagePath, dialect, warn)),
    ...(message.role === 'tool' && { tool_call_id: renderCallId(message.callId, dialect) }),
    ...(message.role === 'assistant' && renderCalls(message, dialect)),
  }
}

/** The fields, if the dialect takes any beyond the common ones. */
function fitting(
  fields: Fields | undefined,
  within: string,
  dialect: Dialect,
  warn: Warn,
): Fields | undefined {
  if (!fields) return undefined
  if (!dialect.bareMessages) return fields
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) warn({ what: 'Property', name, within, by: dialect.name })
  }
  return undefined
}

/** Text alone goes as a string: every provider takes that, and not every one a list. */
function renderContent(message: Message, dialect: Dialect, warn: Warn): unknown {
  const [only, another] = message.parts
  if (!only) return message.role === 'assistant' && message.toolCalls.length > 0 ? null : ''
  if (!another && only.type === 'text' && !fitting(only.extras, partPath, dialect, warn)) return only.text
  return message.parts.map((part) => renderPart(part, dialect, warn))
}

const messagePath = 'messages[].'
const partPath = 'messages[].content[].'

function renderPart(part: Part, dialect: Dialect, warn: Warn): Body {
  if (part.type === 'foreign') return part.value
  const extras = fitting(part.extras, partPath, dialect, warn)
  if (part.type === 'text') return { ...extras, type: 'text', text: part.text }
  const { url, detail } = part
  return { ...extras, type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } }
}

function renderCalls(message: AssistantMessage, dialect: Dialect): Body | undefined {
  if (message.toolCalls.length === 0) return undefined
  return {
    tool_calls: message.toolCalls.map((call) => renderCall(call, dialect)),
    ...(dialect.echo?.on === 'message' && echoOf(message.toolCalls, dialect.echo.field)),
  }
}

function renderCall(call: PastToolCall, dialect: Dialect): Body {
  return {
    ...(dialect.echo?.on === 'call' && echoOf([call], dialect.echo.field)),
    id: renderCallId(call.id, dialect),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }
}

/** Only under the dialect's own field: the turn may have been answered by another provider. */
function echoOf(calls: readonly PastToolCall[], field: string): Body | undefined {
  for (const { state } of calls) {
    if (isObject(state) && state[field] !== undefined) return { [field]: state[field] }
  }
  return undefined
}

function renderCallId(id: string, dialect: Dialect): string {
  return dialect.callId?.(id) ?? id
}

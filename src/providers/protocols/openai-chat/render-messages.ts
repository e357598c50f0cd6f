import type {
  AssistantMessage,
  ForeignPart,
  Message,
  Part,
  PastToolCall,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, textOf } from '../../../lib/json/json.ts'
import { mapCallIds } from '../call-ids.ts'
import type { Body, Warn } from '../protocol.ts'
import { fileNameFor, warnOfFields } from '../rendering.ts'
import { type Dialect, messageFieldOf } from './dialect.ts'
import { callIdField } from './tool-calls.ts'

/** Renders the conversation as messages of chat completions. */
export function renderMessages(messages: readonly Message[], dialect: Dialect, warn: Warn): readonly Body[] {
  return withoutResultImages(withProviderIds(messages)).map((message) =>
    renderMessage(message, dialect, warn),
  )
}

/**
 * Returns the messages with the ids that the provider gave to calls, where clients know others. Kimi models write their ids
 * in the form of earlier ones, and engines take the name of the function from them; reasoning may name the id of its call.
 */
function withProviderIds(messages: readonly Message[]): readonly Message[] {
  const ids = providerIds(messages)
  if (ids === undefined) return messages
  return mapCallIds(messages, (id) => ids.get(id) ?? id)
}

/** The ids of the provider by those that clients know; undefined if they are the same, as they mostly are. */
function providerIds(messages: readonly Message[]): ReadonlyMap<string, string> | undefined {
  let ids: Map<string, string> | undefined
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const { id, name, state } of message.toolCalls) {
      const given = textOf(fieldsOf(state)[callIdField])
      // What a request may cost was reserved for the id that the client knows and the name of the function.
      if (given !== undefined && given.length <= id.length + name.length)
        ids = (ids ?? new Map<string, string>()).set(id, given)
    }
  }
  return ids
}

function renderMessage(message: Message, dialect: Dialect, warn: Warn): Body {
  const role = message.role === 'developer' && dialect.noDeveloperRole ? 'system' : message.role
  const content = renderContent(message, dialect, warn)
  const { name } = message
  // The fast path: most messages have no other fields.
  if (role !== 'tool' && role !== 'assistant' && !message.extras && name === undefined)
    return { role, content }
  return {
    ...supportedFields(message.extras, messagePath, dialect, warn),
    role,
    content,
    ...(name !== undefined && supportedFields({ name }, messagePath, dialect, warn)),
    ...(message.role === 'tool' && { tool_call_id: renderCallId(message.callId, dialect) }),
    ...(message.role === 'assistant' && renderCalls(message, dialect)),
  }
}

/** The fields, if the dialect supports fields beyond the common ones; undefined, with a warning, if not. */
function supportedFields(
  fields: Fields | undefined,
  within: string,
  dialect: Dialect,
  warn: Warn,
): Fields | undefined {
  if (!fields) return undefined
  if (!dialect.plainMessages) return fields
  warnOfFields(fields, { what: 'Property', within, by: dialect.name }, warn)
  return undefined
}

/** A single text is sent as a string, which every provider accepts; not every provider accepts a list. */
function renderContent(message: Message, dialect: Dialect, warn: Warn): unknown {
  const parts = supportedParts(message, dialect, warn)
  const [only, another] = parts
  if (!only) return message.role === 'assistant' && message.toolCalls.length > 0 ? null : ''
  if (!another && only.type === 'text' && !supportedFields(only.extras, partPath, dialect, warn))
    return only.text
  return parts.map((part) => renderPart(part, dialect, warn))
}

/** Parts in the form of another protocol are ignored. Almost no message has one: do not allocate a list for each. */
function supportedParts({ parts }: Message, dialect: Dialect, warn: Warn): readonly Part[] {
  if (!parts.some(isOfOtherProtocol)) return parts
  for (const part of parts.filter(isOfOtherProtocol))
    warn({ what: 'Content part type', name: part.value.type, by: dialect.name })
  return parts.filter((part) => !isOfOtherProtocol(part))
}

function isOfOtherProtocol(part: Part): part is ForeignPart {
  return part.type === 'foreign' && part.protocol !== undefined
}

const messagePath = 'messages[].'
const partPath = 'messages[].content[].'

function renderPart(part: Part, dialect: Dialect, warn: Warn): Body {
  if (part.type === 'foreign') return part.value.type === 'file' ? renderFile(part.value) : part.value
  const extras = supportedFields(part.extras, partPath, dialect, warn)
  if (part.type === 'text') return { ...extras, type: 'text', text: part.text }
  const { url, detail } = part
  return { ...extras, type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } }
}

function renderFile(part: ForeignPart['value']): Body {
  const file = fieldsOf(part.file)
  const data = textOf(file.file_data)
  const isNamed = file.filename !== undefined || data?.startsWith('data:') !== true
  return isNamed ? part : { ...part, file: { ...file, filename: fileNameFor(data) } }
}

function renderCalls(message: AssistantMessage, dialect: Dialect): Body | undefined {
  if (message.toolCalls.length === 0) return undefined
  const field = messageFieldOf(dialect)
  return {
    tool_calls: message.toolCalls.map((call) => renderCall(call, dialect)),
    ...(field !== undefined && stateOf(message.toolCalls, field)),
  }
}

function renderCall(call: PastToolCall, dialect: Dialect): Body {
  return {
    ...(dialect.stateField?.on === 'call' && stateOf([call], dialect.stateField.field)),
    id: renderCallId(call.id, dialect),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }
}

/** Only under the dialect's own field: another provider may have generated the turn. */
function stateOf(calls: readonly PastToolCall[], field: string): Body | undefined {
  for (const { state } of calls) {
    if (isObject(state) && state[field] !== undefined) return { [field]: state[field] }
  }
  return undefined
}

function renderCallId(id: string, dialect: Dialect): string {
  return dialect.callId?.(id) ?? id
}

/**
 * Returns the messages with the images and files of tool results in a user message after the results: in chat
 * completions, the result of a tool is text.
 */
function withoutResultImages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(hasMedia)) return messages
  const moved: Message[] = []
  let waiting: Part[] = []
  for (const message of messages) {
    if (hasMedia(message)) {
      waiting.push(...mediaOf(message))
      moved.push({ ...message, parts: textPartsOf(message) })
    } else if (waiting.length === 0 || isResult(message)) moved.push(message)
    else {
      moved.push(...beforeNext(waiting, message))
      waiting = []
    }
  }
  return waiting.length === 0 ? moved : [...moved, { role: 'user', parts: waiting }]
}

function isResult(message: Message): boolean {
  return message.role === 'tool'
}

function hasMedia(message: Message): message is ToolMessage {
  return message.role === 'tool' && message.parts.some(isMedia)
}

/** Parts in the form of another protocol are ignored where they are. */
function isMedia(part: Part): boolean {
  return part.type === 'image' || (part.type === 'foreign' && part.protocol === undefined)
}

function mediaOf({ callId, parts }: ToolMessage): readonly Part[] {
  return [
    { type: 'text', text: `Attachments of the result of tool call ${callId}:` },
    ...parts.filter(isMedia),
  ]
}

/** A result without text would look like a call without a result. */
function textPartsOf({ parts }: ToolMessage): readonly Part[] {
  const others = parts.filter((part) => !isMedia(part))
  return others.length > 0 ? others : [{ type: 'text', text: 'The result is attached to the next message.' }]
}

/** Some models reject two user messages in a row. */
function beforeNext(parts: readonly Part[], next: Message): readonly Message[] {
  if (next.role === 'user') return [{ ...next, parts: [...parts, ...next.parts] }]
  return [{ role: 'user', parts }, next]
}

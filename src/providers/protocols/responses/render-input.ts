import { createHash } from 'node:crypto'
import type {
  AssistantMessage,
  Message,
  PastToolCall,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import type { Body, Warn } from '../protocol.ts'
import { type CallState, callStateOf } from './call-state.ts'
import { renderOutputContent, renderInputContent, textOnly } from './render-content.ts'

/**
 * Renders the conversation as input items. Instructions stay in the conversation with their role: `instructions` could
 * contain only the first ones.
 */
export function renderInput(messages: readonly Message[], warn: Warn): readonly Body[] {
  return messages.flatMap((message) => renderMessage(message, warn))
}

function renderMessage(message: Message, warn: Warn): readonly Body[] {
  switch (message.role) {
    case 'assistant':
      return renderTurn(message, warn)
    case 'tool':
      return [renderResult(message, warn)]
    default:
      return [{ role: message.role, content: renderInputContent(message.parts, warn) }]
  }
}

/** The items of a turn in the order in which the model generated them: reasoning, text, calls. */
function renderTurn(message: AssistantMessage, warn: Warn): readonly Body[] {
  const [first, ...later] = message.toolCalls
  const state = callStateOf(first)
  return [
    ...state.reasoning,
    ...renderText(message, state, warn),
    ...(first ? [renderCall(first)] : []),
    ...later.flatMap((call) => [...callStateOf(call).reasoning, renderCall(call)]),
  ]
}

function renderText(message: AssistantMessage, { phase }: CallState, warn: Warn): readonly Body[] {
  const content = renderOutputContent(message.parts, warn)
  if (content.length === 0 && message.toolCalls.length > 0) return []
  return [{ role: 'assistant', content, ...(phase === undefined ? {} : { phase }) }]
}

function renderCall({ id, name, arguments: text }: PastToolCall): Body {
  const json = text.trim() === '' ? '{}' : text
  return { type: 'function_call', call_id: renderCallId(id), name, arguments: json }
}

/** A text-only result is sent as a string: not every provider accepts a list as the output of a call. */
function renderResult({ callId, parts }: ToolMessage, warn: Warn): Body {
  const output = textOnly(parts) ?? renderInputContent(parts, warn)
  return { type: 'function_call_output', call_id: renderCallId(callId), output }
}

/** In characters: OpenAI rejects longer call ids. */
const maxCallIdLength = 64

/** The id of a call as providers accept it: a long id is hashed, always to the same id. */
export function renderCallId(id: string): string {
  if (id.length <= maxCallIdLength) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

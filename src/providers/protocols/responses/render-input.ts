import { createHash } from 'node:crypto'
import type {
  AssistantMessage,
  Message,
  PastToolCall,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import type { Warn } from '../protocol.ts'
import type { Body } from './body.ts'
import { type CallState, callStateOf } from './call-state.ts'
import { renderSaid, renderWritten, textAlone } from './render-content.ts'

/**
 * The conversation as items. Instructions stay where they are, with their role: `instructions` would be a second
 * place for them, and only the first ones could go there.
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
      return [{ role: message.role, content: renderWritten(message.parts, warn) }]
  }
}

/** The items of a turn in the order in which the model gave them: reasoning, text, calls. */
function renderTurn(message: AssistantMessage, warn: Warn): readonly Body[] {
  const [first, ...later] = message.toolCalls
  const state = callStateOf(first)
  return [
    ...state.reasoning,
    ...renderAnswer(message, state, warn),
    ...(first ? [renderCall(first)] : []),
    ...later.flatMap((call) => [...callStateOf(call).reasoning, renderCall(call)]),
  ]
}

function renderAnswer(message: AssistantMessage, { phase }: CallState, warn: Warn): readonly Body[] {
  const content = renderSaid(message.parts, warn)
  if (content.length === 0 && message.toolCalls.length > 0) return []
  return [{ role: 'assistant', content, ...(phase === undefined ? {} : { phase }) }]
}

function renderCall({ id, name, arguments: text }: PastToolCall): Body {
  const given = text.trim() === '' ? '{}' : text
  return { type: 'function_call', call_id: renderCallId(id), name, arguments: given }
}

/** Text alone goes as a string: not every provider takes a list as the result of a call. */
function renderResult({ callId, parts }: ToolMessage, warn: Warn): Body {
  const output = textAlone(parts) ?? renderWritten(parts, warn)
  return { type: 'function_call_output', call_id: renderCallId(callId), output }
}

/** In characters: OpenAI refuses the id of a call that is longer. */
const longest = 64

/** The id of a call as providers take it: one that is too long becomes another, always the same for the same. */
export function renderCallId(id: string): string {
  if (id.length <= longest) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

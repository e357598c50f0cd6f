import { createHash } from 'node:crypto'
import type {
  AssistantMessage,
  Message,
  PastToolCall,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import { fieldsOf, isObject, listOf } from '../../../lib/json/json.ts'
import { mapCallIds, uniqueCallIds } from '../call-ids.ts'
import type { Warn } from '../protocol.ts'
import { parseBounded, requireContent } from '../rendering.ts'
import {
  type Block,
  detachCacheControl,
  renderParts,
  renderTextParts,
  warnOfProperties,
} from './render-parts.ts'

/** A conversation in Anthropic's form: separate instructions, and alternating turns that begin with the user's. */
export type Conversation = { readonly system: readonly Block[]; readonly turns: readonly Turn[] }

/** Renders the conversation, with the stored thinking blocks of its tool turns. */
export function renderConversation(messages: readonly Message[], warn: Warn): Conversation {
  const system: Block[] = []
  const turns: GrowingTurn[] = []
  for (const message of mapCallIds(messages, uniqueCallIds())) {
    warnOfProperties('messages[].', message.extras, warn)
    if (message.name !== undefined) warnOfProperties('messages[].', { name: message.name }, warn)
    if (message.role === 'system' || message.role === 'developer') {
      if (turns.length > 0)
        warn(
          'System messages are supported by anthropic only at the beginning, so later ones were moved there.',
        )
      for (const block of renderTextParts(message.parts, warn)) system.push(block)
    } else addTurn(turns, message.role === 'assistant' ? 'assistant' : 'user', renderMessage(message, warn))
  }
  return withUserFirst({ system, turns: turns.map(resultsFirst) }, warn)
}

function renderMessage(message: Message, warn: Warn): Block[] {
  switch (message.role) {
    case 'assistant':
      return renderAssistant(message, warn)
    case 'tool':
      return [renderResult(message, warn)]
    default:
      return requireContent(renderParts(message.parts, warn), message, 'anthropic')
  }
}

/** Thinking blocks precede the text and the call that follow from them. */
function renderAssistant({ parts, toolCalls }: AssistantMessage, warn: Warn): Block[] {
  const [first, ...others] = toolCalls
  const text = renderTextParts(parts, warn)
  if (!first) return text
  const calls = others.flatMap((call) => [...thinkingOf(call), renderCall(call, warn)])
  return [...thinkingOf(first), ...text, renderCall(first, warn), ...calls]
}

/** Only under this protocol's own field: another provider may have generated the turn. */
function thinkingOf({ state }: PastToolCall): Block[] {
  return listOf(fieldsOf(state).thinking_blocks).filter((block): block is Block => {
    return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking')
  })
}

function renderCall(call: PastToolCall, warn: Warn): Block {
  return { type: 'tool_use', id: renderCallId(call.id), name: call.name, input: renderInput(call, warn) }
}

function renderInput({ arguments: text }: PastToolCall, warn: Warn): unknown {
  if (text.trim() === '') return {}
  const input = parseBounded(text)
  if (isObject(input)) return input
  warn(
    'Tool call arguments that are not a JSON object are not supported by anthropic and were wrapped in one.',
  )
  return { arguments: input ?? text }
}

function renderResult(message: ToolMessage, warn: Warn): Block {
  const { blocks, cacheControl: mark } = detachCacheControl(renderParts(message.parts, warn))
  const [only, another] = blocks
  const content = only?.type === 'text' && !another ? only.text : blocks
  const tool_use_id = renderCallId(message.callId)
  return { type: 'tool_result', tool_use_id, content: blocks.length > 0 ? content : undefined, ...mark }
}

/**
 * Instructions without messages become the user message; a conversation that begins with the model gets a placeholder.
 */
function withUserFirst({ system, turns }: Conversation, warn: Warn): Conversation {
  const [first] = turns
  if (first?.role === 'user') return { system, turns }
  if (!first && system.length > 0) return { system: [], turns: [{ role: 'user', content: system }] }
  warn('anthropic requires the first message to be a user message, so the message “.” was added.')
  return { system, turns: [placeholderTurn, ...turns] }
}

const placeholderTurn: Turn = { role: 'user', content: [{ type: 'text', text: '.' }] }

/** The id in the form that Anthropic accepts; an id of another form is hashed, always to the same id. */
export function renderCallId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

/** The consecutive messages of one role. */
export type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] }

/** A turn that is being built. */
type GrowingTurn = { readonly role: Turn['role']; readonly content: Block[] }

/** Adds a message to the turns: roles must alternate, so consecutive messages of one role are one turn. */
function addTurn(turns: GrowingTurn[], role: Turn['role'], blocks: Block[]): void {
  const last = turns.at(-1)
  if (blocks.length === 0) return
  if (last?.role !== role) turns.push({ role, content: blocks })
  else for (const block of blocks) last.content.push(block)
}

/** Returns the turn with its tool results first: they must follow their calls directly. */
function resultsFirst(turn: Turn): Turn {
  if (!turn.content.some(isToolResult)) return turn
  const others = turn.content.filter((block) => !isToolResult(block))
  return { ...turn, content: [...turn.content.filter(isToolResult), ...others] }
}

/** Returns the turn without thinking blocks. */
export function withoutThinking(turn: Turn): Turn {
  return { ...turn, content: turn.content.filter((block) => !isThinking(block)) }
}

/**
 * True where thinking with a budget can continue: the first assistant turn of the current tool loop, or a prefilled
 * assistant turn, must begin with a thinking block.
 */
export function canContinueThinking(turns: readonly Turn[]): boolean {
  const lastInput = turns.findLastIndex((turn) => turn.role === 'user' && !turn.content.some(isToolResult))
  const reply = turns.slice(lastInput + 1).find((turn) => turn.role === 'assistant')
  return reply?.content[0] === undefined || isThinking(reply.content[0])
}

function isToolResult(block: Block): boolean {
  return block.type === 'tool_result'
}

function isThinking(block: Block): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

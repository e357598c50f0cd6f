import { createHash } from 'node:crypto'
import type {
  AssistantMessage,
  Message,
  PastToolCall,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import { fieldsOf, isObject, listOf, parseJson } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import { takeMarks } from './cache-control.ts'
import { renderAnswerParts, renderParts } from './render-parts.ts'
import { addTurn, type Block, type GrowingTurn, resultsFirst, type Turn } from './turns.ts'
import { tellExtras } from './unsupported.ts'

/** A conversation as Anthropic has it: instructions apart, and turns that alternate, the user's first. */
export type Conversation = { readonly system: readonly Block[]; readonly turns: readonly Turn[] }

/** The conversation, with the thoughts of its tool turns wherever they were kept. */
export function renderConversation(messages: readonly Message[], warn: Warn): Conversation {
  const system: Block[] = []
  const turns: GrowingTurn[] = []
  for (const message of messages) {
    tellExtras('messages[].', message.extras, warn)
    if (message.name !== undefined) tellExtras('messages[].', { name: message.name }, warn)
    if (message.role === 'system' || message.role === 'developer') {
      if (turns.length > 0)
        warn('anthropic takes instructions only at the beginning; later ones were moved there.')
      for (const block of renderAnswerParts(message.parts, warn)) system.push(block)
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
      return renderParts(message.parts, warn)
  }
}

/** Thoughts come before what they led to. */
function renderAssistant({ parts, toolCalls }: AssistantMessage, warn: Warn): Block[] {
  const [first, ...others] = toolCalls
  const text = renderAnswerParts(parts, warn)
  if (!first) return text
  const calls = others.flatMap((call) => [...thoughtsOf(call), renderCall(call, warn)])
  return [...thoughtsOf(first), ...text, renderCall(first, warn), ...calls]
}

/** Only under the field that this wire told them by: the turn may have been another provider's. */
function thoughtsOf({ state }: PastToolCall): Block[] {
  return listOf(fieldsOf(state).thinking_blocks).filter((block): block is Block => {
    return isObject(block) && typeof block.type === 'string'
  })
}

function renderCall(call: PastToolCall, warn: Warn): Block {
  return { type: 'tool_use', id: renderCallId(call.id), name: call.name, input: renderInput(call, warn) }
}

function renderInput({ arguments: text }: PastToolCall, warn: Warn): unknown {
  if (text.trim() === '') return {}
  const input = parseJson(text)
  if (isObject(input)) return input
  warn('anthropic takes only JSON objects as arguments of a tool call; others were wrapped in one.')
  return { arguments: input ?? text }
}

function renderResult(message: ToolMessage, warn: Warn): Block {
  const { blocks, mark } = takeMarks(renderParts(message.parts, warn))
  const [only, another] = blocks
  const content = only?.type === 'text' && !another ? only.text : blocks
  const tool_use_id = renderCallId(message.callId)
  return { type: 'tool_result', tool_use_id, content: blocks.length > 0 ? content : undefined, ...mark }
}

/** Instructions alone are what the user says; a conversation that the model began needs a word before it. */
function withUserFirst({ system, turns }: Conversation, warn: Warn): Conversation {
  const [first] = turns
  if (first?.role === 'user') return { system, turns }
  if (!first && system.length > 0) return { system: [], turns: [{ role: 'user', content: system }] }
  warn('anthropic needs a user message first; one that says “.” was put there.')
  return { system, turns: [aWord, ...turns] }
}

const aWord: Turn = { role: 'user', content: [{ type: 'text', text: '.' }] }

/** The id in the form that Anthropic takes; one of another form becomes another, always the same. */
export function renderCallId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

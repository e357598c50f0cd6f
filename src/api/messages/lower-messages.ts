import type {
  AssistantMessage,
  Message,
  Part,
  PastToolCall,
  ToolMessage,
} from '../../domain/generation/request.ts'
import type { ReturnedStates } from '../../domain/generation/returned-states.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { type BlockOf, type ContentBlock, isBlock } from './content-schema.ts'
import { cacheExtras, foreignPart, lowerBlock, lowerContent } from './lower-content.ts'
import type { CountTokensRequest, InputMessage } from './schema.ts'
import { isThinking, thinkingStates } from './thinking-states.ts'

/** Lowers the instructions and the conversation; throws 400 for what no model can receive. */
export function lowerMessages({
  system,
  messages,
}: Pick<CountTokensRequest, 'system' | 'messages'>): Message[] {
  const instructions = system == null ? [] : lowerContent(system, 'system')
  const states = thinkingStates(messages)
  const conversation = messages.flatMap((message, index) =>
    lowerMessage(message, `messages[${index}]`, states),
  )
  if (instructions.length === 0) return conversation
  return [{ role: 'system', parts: instructions }, ...conversation]
}

function lowerMessage(
  { role, content }: InputMessage,
  path: string,
  states: ReturnedStates<ContentBlock>,
): readonly Message[] {
  const contentPath = `${path}.content`
  switch (role) {
    case 'assistant':
      return [lowerTurn(content, contentPath, states)]
    case 'system':
      return [{ role, parts: lowerOther(content, contentPath) }]
    case 'user':
      return lowerUser(content, contentPath)
  }
}

/** The results of tool calls follow their calls directly, each as a message of its own. */
function lowerUser(content: string | readonly ContentBlock[], path: string): readonly Message[] {
  if (typeof content === 'string' || !content.some(isResult))
    return [{ role: 'user', parts: lowerOther(content, path) }]
  const results: ToolMessage[] = []
  const parts: Part[] = []
  for (const [index, block] of content.entries()) {
    if (isResult(block)) results.push(lowerResult(block, `${path}[${index}]`))
    else parts.push(...lowerAny(block, `${path}[${index}]`))
  }
  return parts.length === 0 ? results : [...results, { role: 'user', parts }]
}

function isResult(block: ContentBlock): block is BlockOf<'tool_result'> {
  return isBlock(block, 'tool_result')
}

function lowerOther(content: string | readonly ContentBlock[], path: string): readonly Part[] {
  if (typeof content === 'string') return lowerContent(content, path)
  return content.flatMap((block, index) => lowerAny(block, `${path}[${index}]`))
}

/** Thinking in a message of the user has no meaning for other protocols. */
function lowerAny(block: ContentBlock, path: string): readonly Part[] {
  if (isThinking(block)) return [foreignPart(block)]
  if (isBlock(block, 'tool_use') || isResult(block)) throw misplaced(block, path)
  return lowerBlock(block, path)
}

function misplaced({ type }: ContentBlock, path: string): Error {
  const role = type === 'tool_use' ? 'assistant' : 'user'
  const message = `Invalid '${path}': a ${type} block belongs to a message of the role ${role}.`
  return badRequest(message, 'invalid_value', path)
}

function lowerResult(block: BlockOf<'tool_result'>, path: string): ToolMessage {
  const { content } = block
  const parts = content == null ? [] : lowerContent(content, `${path}.content`)
  const marked = block.is_error ? markedAsError(parts) : parts
  return { role: 'tool', callId: block.tool_use_id, parts: withCacheControl(marked, block) }
}

/** Other protocols have no flag for a failed call: the text has to say it. */
function markedAsError(parts: readonly Part[]): readonly Part[] {
  const [first, ...others] = parts
  if (first?.type !== 'text') return [{ type: 'text', text: 'Error' }, ...parts]
  return /error/i.test(first.text.slice(0, 200))
    ? parts
    : [{ ...first, text: `Error: ${first.text}` }, ...others]
}

function withCacheControl(parts: readonly Part[], block: BlockOf<'tool_result'>): readonly Part[] {
  const extras = cacheExtras(block)
  const last = parts.at(-1)
  if (extras === undefined || last === undefined || last.type === 'foreign') return parts
  return [...parts.slice(0, -1), { ...last, extras: { ...last.extras, ...extras } }]
}

/**
 * Lowers a turn of the model. Thinking that the gateway has sealed becomes the state of a tool call; other thinking is
 * only understood by Anthropic.
 */
function lowerTurn(
  content: string | readonly ContentBlock[],
  path: string,
  states: ReturnedStates<ContentBlock>,
): AssistantMessage {
  if (typeof content === 'string')
    return { role: 'assistant', parts: [{ type: 'text', text: content }], toolCalls: [] }
  const parts: Part[] = []
  const toolCalls: PastToolCall[] = []
  states.clear()
  for (const [index, block] of content.entries()) {
    if (isBlock(block, 'tool_use')) toolCalls.push(states.attachTo(lowerToolUse(block)))
    else if (isThinking(block)) {
      if (!states.add(block)) parts.push(foreignPart(block))
    } else if (isBlock(block, 'tool_result')) parts.push(foreignPart(block))
    else parts.push(...lowerBlock(block, `${path}[${index}]`))
  }
  return { role: 'assistant', parts, toolCalls }
}

function lowerToolUse({ id, name, input }: BlockOf<'tool_use'>): PastToolCall {
  return { id, name, arguments: JSON.stringify(input ?? {}) }
}

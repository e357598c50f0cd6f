import type { AssistantMessage, Part, PastToolCall } from '../../domain/generation/request.ts'
import { joinStates, openSealedState, type SealedState } from '../../domain/generation/sealed-state.ts'
import { isObject } from '../../lib/json/json.ts'
import type { ValueBudget } from '../../lib/validation/value-budget.ts'
import { type BlockOf, type ContentBlock, isBlock } from './content-schema.ts'
import { foreignPart, lowerBlock } from './lower-content.ts'

/**
 * Lowers a turn of the model. Thinking that the gateway has sealed becomes the state of the tool call that follows it;
 * other thinking is only understood by Anthropic. The sealed states of all turns share the budget.
 */
export function lowerTurn(
  content: string | readonly ContentBlock[],
  path: string,
  budget: ValueBudget,
): AssistantMessage {
  if (typeof content === 'string')
    return { role: 'assistant', parts: [{ type: 'text', text: content }], toolCalls: [] }
  const parts: Part[] = []
  const toolCalls: PastToolCall[] = []
  let states: SealedState[] = []
  for (const [index, block] of content.entries()) {
    const blockPath = `${path}[${index}]`
    if (isBlock(block, 'tool_use')) {
      toolCalls.push({ ...lowerToolUse(block), ...mergeStates(states) })
      states = []
    } else if (isThinking(block)) {
      const state = openSealedState(sealOf(block), budget)
      if (state) states.push(state)
      else parts.push(foreignPart(block, blockPath))
    } else if (isBlock(block, 'tool_result')) parts.push(foreignPart(block, blockPath))
    else parts.push(...lowerBlock(block, blockPath))
  }
  return { role: 'assistant', parts, toolCalls }
}

type AnyThinking = BlockOf<'thinking' | 'redacted_thinking'>

function isThinking(block: ContentBlock): block is AnyThinking {
  return isBlock(block, 'thinking') || isBlock(block, 'redacted_thinking')
}

function sealOf(block: AnyThinking): string {
  return block.type === 'redacted_thinking' ? block.data : (block.signature ?? '')
}

function lowerToolUse({ id, name, input }: BlockOf<'tool_use'>): PastToolCall {
  return { id, name, arguments: JSON.stringify(input ?? {}) }
}

/** The state of a call after several blocks of reasoning: their lists are joined. Other providers' states are ignored. */
function mergeStates(states: readonly SealedState[]): Pick<PastToolCall, 'state' | 'provider'> | undefined {
  const provider = states.at(-1)?.provider
  const own = states.filter((sealed) => sealed.provider === provider && isObject(sealed.state))
  if (provider === undefined || own.length === 0) return undefined
  return { provider, state: joinStates(own.map(({ state }) => state)) }
}

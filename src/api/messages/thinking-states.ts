import { ReturnedStates } from '../../domain/generation/returned-states.ts'
import { ValueBudget } from '../../lib/validation/value-budget.ts'
import { type BlockOf, type ContentBlock, isBlock } from './content-schema.ts'
import type { InputMessage } from './schema.ts'

type ThinkingBlock = BlockOf<'thinking' | 'redacted_thinking'>

/** Whether the block is thinking, which may be redacted. */
export function isThinking(block: ContentBlock): block is ThinkingBlock {
  return isBlock(block, 'thinking') || isBlock(block, 'redacted_thinking')
}

/** The states in the signatures of the thinking of all turns. */
export function thinkingStates(messages: readonly InputMessage[]): ReturnedStates<ContentBlock> {
  return new ReturnedStates(sealsIn(messages), new ValueBudget('messages'))
}

function* sealsIn(messages: readonly InputMessage[]): Generator<readonly [ContentBlock, string]> {
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue
    for (const block of content) if (isThinking(block)) yield [block, sealOf(block)]
  }
}

function sealOf(block: ThinkingBlock): string {
  return block.type === 'redacted_thinking' ? block.data : (block.signature ?? '')
}

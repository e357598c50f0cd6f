import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import { tellsError } from '../openai-chat/error.ts'
import { closeBlock, noBlocks, openBlock } from './blocks.ts'
import { parseError } from './error.ts'
import { finishFor } from './finish.ts'
import { parseTier, parseUsage } from './usage.ts'

/** The events of a whole message. */
export function parseAnswer(body: unknown): GenerationEvent[] {
  if (!isObject(body) || tellsError(body) || !Array.isArray(body.content)) {
    return [{ type: 'failure', complaint: parseError(body) }]
  }
  const events: GenerationEvent[] = []
  const told = fieldsOf(body.usage)
  const tier = parseTier(told)
  if (tier !== undefined) events.push({ type: 'tier', tier })
  const begun = listOf(body.content).reduce(
    (blocks: typeof noBlocks, block) => openBlock(blocks, fieldsOf(block), events),
    noBlocks,
  )
  const { callIds, held } = closeBlock(begun, events)
  const usage = parseUsage(told)
  if (usage) events.push({ type: 'usage', usage })
  // A body that is whole needs no word to say so.
  const reason = finishFor(textOf(body.stop_reason) ?? 'end_turn', callIds.length > 0)
  return [...events, ...held, { type: 'finish', choice: 0, reason }]
}

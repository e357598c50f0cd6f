import type { Generation, Message } from '../../domain/generation/request.ts'
import { fieldsOf, listOf, textOf } from '../../lib/json/json.ts'
import type { Target } from '../../providers/protocols/protocol.ts'

const prefix = 'x-anthropic-billing-header:'

/**
 * Returns a request of the Messages API without the block with which Claude Code begins its instructions. The block differs
 * between conversations, so that an engine finds nothing of the prompt in its cache (anthropics/claude-code#50085); only
 * Claude expects it.
 */
export function withoutAttribution(generation: Generation, { model }: Pick<Target, 'model'>): Generation {
  const { source, messages } = generation
  if (source?.protocol !== 'anthropic' || /claude/i.test(model)) return generation
  const [first, ...blocks] = listOf(source.body.system)
  if (!textOf(fieldsOf(first).text)?.startsWith(prefix)) return generation
  return {
    ...generation,
    messages: withoutFirstBlock(messages),
    source: { ...source, body: { ...source.body, system: blocks } },
  }
}

/** The instructions are the first message. */
function withoutFirstBlock([instructions, ...conversation]: readonly Message[]): readonly Message[] {
  if (instructions?.role !== 'system') return conversation
  const parts = instructions.parts.slice(1)
  return parts.length === 0 ? conversation : [{ ...instructions, parts }, ...conversation]
}

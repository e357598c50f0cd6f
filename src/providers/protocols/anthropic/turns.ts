/** A piece of a turn: text, an image, a tool call, a result, a thought. */
export type Block = { readonly type: string; readonly [field: string]: unknown }

/** What one side says before the other speaks. */
export type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] }

/** A turn to which more may be added. */
export type GrowingTurn = { readonly role: Turn['role']; readonly content: Block[] }

/** Adds one more message to the turns: roles alternate, so what the same side says is one turn. */
export function addTurn(turns: GrowingTurn[], role: Turn['role'], blocks: Block[]): void {
  const last = turns.at(-1)
  if (blocks.length === 0) return
  if (last?.role !== role) turns.push({ role, content: blocks })
  else for (const block of blocks) last.content.push(block)
}

/** Results come first in a turn, directly behind the calls that they belong to. */
export function resultsFirst(turn: Turn): Turn {
  if (!turn.content.some(tellsResult)) return turn
  const others = turn.content.filter((block) => !tellsResult(block))
  return { ...turn, content: [...turn.content.filter(tellsResult), ...others] }
}

/** The turn without what the model thought in it. */
export function withoutThoughts(turn: Turn): Turn {
  return { ...turn, content: turn.content.filter((block) => !isThought(block)) }
}

/**
 * Whether thinking within a budget may go on: the first turn of the tool loop that is under way must begin with
 * what the model thought, and so must the beginning of an answer that it is given.
 */
export function mayGoOnThinking(turns: readonly Turn[]): boolean {
  const asked = turns.findLastIndex((turn) => turn.role === 'user' && !turn.content.some(tellsResult))
  const answer = turns.slice(asked + 1).find((turn) => turn.role === 'assistant')
  return answer?.content[0] === undefined || isThought(answer.content[0])
}

function tellsResult(block: Block): boolean {
  return block.type === 'tool_result'
}

function isThought(block: Block): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

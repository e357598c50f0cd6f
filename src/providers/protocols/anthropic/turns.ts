/** A content block of a turn: text, an image, a tool call, a tool result, thinking. */
export type Block = { readonly type: string; readonly [field: string]: unknown }

/** The consecutive messages of one role. */
export type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] }

/** A turn that is being built. */
export type GrowingTurn = { readonly role: Turn['role']; readonly content: Block[] }

/** Adds a message to the turns: roles must alternate, so consecutive messages of one role are one turn. */
export function addTurn(turns: GrowingTurn[], role: Turn['role'], blocks: Block[]): void {
  const last = turns.at(-1)
  if (blocks.length === 0) return
  if (last?.role !== role) turns.push({ role, content: blocks })
  else for (const block of blocks) last.content.push(block)
}

/** Returns the turn with its tool results first: they must follow their calls directly. */
export function resultsFirst(turn: Turn): Turn {
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

import type { FragmentedChunk } from '../../src/api/chat-completions/reply-schema.ts'

export type JoinedCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

/**
 * The tool calls of choice 0 as a client joins them; throws if the first fragment of a call does not identify the call
 * or a later one repeats its identity.
 */
export function joinFragments(chunks: readonly FragmentedChunk[]): JoinedCall[] {
  const calls: JoinedCall[] = []
  const deltas = chunks.flatMap(({ choices }) => choices.filter(({ index }) => index === 0))
  for (const fragment of deltas.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    const { index, ...rest } = fragment
    const call = calls[index]
    if (call) call.function.arguments += laterFragment(rest)
    else if (index === calls.length && 'id' in rest) calls.push(firstFragment(rest))
    else throw new Error(`This is not the next call: ${JSON.stringify(fragment)}`)
  }
  return calls
}

function firstFragment(call: JoinedCall): JoinedCall {
  if (call.function.arguments !== '') throw new Error(`It begins with arguments: ${JSON.stringify(call)}`)
  return { ...call, function: { ...call.function } }
}

function laterFragment(rest: object): string {
  const { function: called, ...more } = rest as JoinedCall
  const { arguments: text, ...others } = called
  if (Object.keys({ ...more, ...others }).length > 0 || text === '')
    throw new Error(`This is not a later fragment: ${JSON.stringify(rest)}`)
  return text
}

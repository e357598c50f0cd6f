import type { Message } from '../../domain/generation/request.ts'

/**
 * The id that a provider gets for that of a call in this turn, or of a result if there is no turn, in the order of the
 * conversation.
 */
export type IdOf = (id: string, turn?: number) => string

/** Returns the messages with other ids of their calls and results. */
export function mapCallIds(messages: readonly Message[], idOf: IdOf): readonly Message[] {
  return messages.map((message, turn) => {
    if (message.role === 'tool') return { ...message, callId: idOf(message.callId) }
    if (message.role !== 'assistant') return message
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: idOf(call.id, turn) })) }
  })
}

/** The calls of one id in the last turn that has any: their new ids, and the number of their results so far. */
type Calls = { readonly turn: number; readonly ids: string[]; results: number }

/**
 * Gives each call an id of its own: some engines number the calls of each response alike, or all of its calls, and some
 * providers reject an id that comes twice. The results of a turn belong to its calls with their id, in the same order.
 * The suffix is short, because its tokens are not reserved.
 */
export function uniqueCallIds(): IdOf {
  const calls = new Map<string, Calls>()
  const unusedId = createUnusedIds()
  return (id, turn) => {
    const last = calls.get(id)
    if (turn === undefined) return last?.ids[Math.min(last.results++, last.ids.length - 1)] ?? id
    const unused = unusedId(id)
    if (last?.turn === turn) last.ids.push(unused)
    else calls.set(id, { turn, ids: [unused], results: 0 })
    return unused
  }
}

/** Returns the function that makes ids of which none comes twice. */
function createUnusedIds(): (id: string) => string {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  return (id) => {
    let count = counts.get(id) ?? 1
    let unused = id
    while (used.has(unused)) unused = `${id}__${++count}`
    counts.set(id, count)
    used.add(unused)
    return unused
  }
}

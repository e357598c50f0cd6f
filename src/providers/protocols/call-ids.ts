import type { Message } from '../../domain/generation/request.ts'

/** The id that a provider gets for that of a call, or of a result, in the order of the conversation. */
export type IdOf = (id: string, isCall: boolean) => string

/** Returns the messages with other ids of their calls and results. */
export function mapCallIds(messages: readonly Message[], idOf: IdOf): readonly Message[] {
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, callId: idOf(message.callId, false) }
    if (message.role !== 'assistant') return message
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: idOf(call.id, true) })) }
  })
}

/**
 * Gives each call an id of its own: some engines number the calls of each response alike, and some providers reject an id
 * that comes twice. A result belongs to the last call with its id. The suffix is short, because its tokens are not reserved.
 */
export function uniqueCallIds(): IdOf {
  const counts = new Map<string, number>()
  return (id, isCall) => {
    const count = (counts.get(id) ?? 0) + Number(isCall)
    counts.set(id, count)
    return count > 1 ? `${id}__${count}` : id
  }
}

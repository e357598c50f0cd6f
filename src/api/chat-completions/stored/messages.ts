import { type Page, renderItems } from '../../../http/paging.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import type { ChatMessage } from '../schema.ts'
import type { StoredMessage } from './schema.ts'

/** A page of the messages of the completion, as JSON; the place of a message among them is the end of its id. */
export function pageOfMessages(
  completion: string,
  messages: readonly ChatMessage[],
  { after, limit, order }: Page,
): readonly string[] {
  const ordered = messages.map((message, index) => renderMessage(message, `${completion}-${index}`))
  if (order === 'desc') ordered.reverse()
  const start = after === undefined ? 0 : startAfter(after, completion, messages.length, order)
  return renderItems(ordered.slice(start, start + limit), start + limit < messages.length)
}

function startAfter(after: string, completion: string, count: number, order: Page['order']): number {
  const number = after.startsWith(`${completion}-`) ? after.slice(completion.length + 1) : ''
  if (!/^(0|[1-9]\d{0,8})$/.test(number)) {
    throw badRequest(
      "Invalid 'after': it is no id of a message of this completion.",
      'invalid_value',
      'after',
    )
  }
  const index = Math.min(Number(number), count)
  return order === 'asc' ? index + 1 : count - index
}

/** What else was sent with the message is kept, and not told. */
function renderMessage(message: ChatMessage, id: string): StoredMessage {
  return {
    id,
    role: message.role,
    content: message.content ?? null,
    name: message.name ?? undefined,
    tool_calls: message.tool_calls ?? undefined,
    tool_call_id: message.tool_call_id ?? undefined,
  }
}

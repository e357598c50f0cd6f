import { invalidCursor, type Page, renderList, renderSlice, slicePage } from '../../../http/paging.ts'
import type { CompletionPage, StoredCompletion } from '../../../storage/ports/completions.ts'
import type { ChatMessage } from '../message-schema.ts'
import type { StoredMessage } from './schema.ts'

/** Renders a stored completion as JSON in parts. They are joined from text, because none of it has to be parsed. */
export function renderStored({ completion, metadata }: StoredCompletion): readonly string[] {
  return [completion.slice(0, -1), ',"metadata":', metadata, '}']
}

/** Renders a page of stored completions as JSON in parts. */
export function renderCompletionList({ completions, hasMore: more }: CompletionPage): readonly string[] {
  const ids = completions.map(({ id }) => id)
  return renderList(ids, completions.map(renderStored), more)
}

/** Renders a page of the messages of a completion as JSON in parts; the id of a message ends with its index. */
export function renderMessageList(
  completionId: string,
  messages: readonly ChatMessage[],
  page: Page,
): readonly string[] {
  const rendered = messages.map((message, index) => renderMessage(message, `${completionId}-${index}`))
  return renderSlice(
    slicePage(rendered, page, (cursor) => indexOf(cursor, completionId, rendered.length, page)),
  )
}

/** The index in the order of the page. An index behind the last message counts as the end of the list. */
function indexOf(cursor: string, completionId: string, count: number, { order }: Page): number {
  const digits = cursor.startsWith(`${completionId}-`) ? cursor.slice(completionId.length + 1) : ''
  if (!/^(0|[1-9]\d{0,8})$/.test(digits)) throw invalidCursor('a message of this completion')
  const index = Math.min(Number(digits), count)
  return order === 'asc' ? index : count - 1 - index
}

/** Other properties of the message stay in the store and are not rendered. */
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

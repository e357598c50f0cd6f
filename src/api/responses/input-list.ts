import { type Page, renderItems } from '../../http/paging.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Hold } from '../../lib/memory-budget.ts'
import { type ResponseStores, responseNotFound } from './find-response.ts'
import type { InputItemList } from './render/reply-schema.ts'

/** A page, as JSON, of the items that the request of a stored response brought, with what its references named. */
export async function listInput(
  organization: string,
  id: string,
  page: Page,
  { responses }: Pick<ResponseStores, 'responses'>,
  hold: Hold,
): Promise<readonly string[]> {
  const input = await responses.findInput(organization, id, hold)
  if (input === undefined) throw responseNotFound(id)
  const ordered = input.map(renderInput)
  if (page.order === 'desc') ordered.reverse()
  const start = page.after === undefined ? 0 : placeAfter(page.after, ordered)
  const end = start + page.limit
  return renderItems(ordered.slice(start, end), end < ordered.length)
}

type ListedItem = InputItemList['data'][number]

/** Clients expect the parts of a message, also where it was sent as text alone. */
function renderInput(stored: JsonObject): ListedItem {
  // Stored as it was when it passed for an item.
  const item = stored as unknown as ListedItem & { readonly role?: string; readonly content?: unknown }
  if (item.type !== 'message') return item
  const type = item.role === 'assistant' ? 'output_text' : 'input_text'
  const content = typeof item.content === 'string' ? [{ type, text: item.content }] : item.content
  return { status: 'completed', ...item, content } as ListedItem
}

function placeAfter(after: string, items: readonly ListedItem[]): number {
  const place = items.findIndex(({ id }) => id === after)
  if (place >= 0) return place + 1
  throw badRequest(
    "Invalid 'after': it is no id of an input item of this response.",
    'invalid_value',
    'after',
  )
}

import { type Page, renderItems } from '../../http/paging.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Hold } from '../../lib/memory-budget.ts'
import { responseNotFound, type ResponseStores } from './find-response.ts'
import type { InputItemList } from './render/reply-schema.ts'

/**
 * Returns a page of the input items of a stored response, as JSON in parts; references are resolved. Throws 404 if there
 * is no such response.
 */
export async function listInputItems(
  organization: string,
  id: string,
  page: Page,
  { responses }: Pick<ResponseStores, 'responses'>,
  hold: Hold,
): Promise<readonly string[]> {
  const input = await responses.findInput(organization, id, hold)
  if (input === undefined) throw responseNotFound(id)
  const items = input.map(renderInputItem)
  if (page.order === 'desc') items.reverse()
  const start = page.after === undefined ? 0 : indexAfter(page.after, items)
  const end = start + page.limit
  return renderItems(items.slice(start, end), end < items.length)
}

type InputItem = InputItemList['data'][number]

/** Renders the content of a message as parts, as clients expect it, also where it was sent as a string. */
function renderInputItem(stored: JsonObject): InputItem {
  // The request schema validated it before it was stored.
  const item = stored as unknown as InputItem & { readonly role?: string; readonly content?: unknown }
  if (item.type !== 'message') return item
  const type = item.role === 'assistant' ? 'output_text' : 'input_text'
  const content = typeof item.content === 'string' ? [{ type, text: item.content }] : item.content
  return { status: 'completed', ...item, content } as InputItem
}

function indexAfter(after: string, items: readonly InputItem[]): number {
  const index = items.findIndex(({ id }) => id === after)
  if (index >= 0) return index + 1
  throw badRequest("Invalid 'after': no input item of this response has this id.", 'invalid_value', 'after')
}

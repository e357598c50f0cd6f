import { invalidCursor, type Page, renderSlice, slicePage } from '../../http/paging.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { type ResponseStores, responseNotFound } from './find-response.ts'
import type { InputItemList } from './render/reply-schema.ts'

/** A page, as JSON in parts, of the input items of a stored response, with its references resolved; throws the 404. */
export async function listInputItems(
  organization: string,
  id: string,
  page: Page,
  { responses }: Pick<ResponseStores, 'responses'>,
  hold: AcquireMemory,
): Promise<readonly string[]> {
  const input = await responses.findInput(organization, id, hold)
  if (input === undefined) throw responseNotFound(id)
  return renderSlice(slicePage(input.map(renderInputItem), page, indexOf))
}

type InputItem = InputItemList['data'][number]

/** Clients expect the parts of a message, also where it was sent as text alone. */
function renderInputItem(stored: JsonObject): InputItem {
  // The request schema validated it before it was stored.
  const item = stored as unknown as InputItem & { readonly role?: string; readonly content?: unknown }
  if (item.type !== 'message') return item
  const type = item.role === 'assistant' ? 'output_text' : 'input_text'
  const content = typeof item.content === 'string' ? [{ type, text: item.content }] : item.content
  return { status: 'completed', ...item, content } as InputItem
}

function indexOf(cursor: string, ordered: readonly InputItem[]): number {
  const index = ordered.findIndex(({ id }) => id === cursor)
  if (index < 0) throw invalidCursor('an input item of this response')
  return index
}

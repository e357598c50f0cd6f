import { Type } from 'typebox'
import type { Models } from '../../gateway/models/models.ts'
import {
  invalidCursor,
  type Page,
  pageParameters,
  renderList,
  renderSlice,
  slicePage,
  toPage,
} from '../../http/paging.ts'
import { defineQuery, readPairs } from '../../http/query.ts'
import { stringEnum } from '../../http/schema.ts'
import { type Fields, isObject, type JsonObject } from '../../lib/json/json.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { nameSet } from '../../lib/text.ts'
import { nextTurn } from '../../lib/time.ts'
import { type ResponseQuery, responseStatuses, type StoredResponse } from '../../storage/ports/responses.ts'
import { readStored, UnreadableError } from '../../storage/ports/stored-json.ts'
import { isUnfinished, responseNotFound, type ResponseStores } from './find-response.ts'
import { type RenderOptions, renderResponse } from './render/render-response.ts'
import type { InputItemList } from './render/reply-schema.ts'
import { stateOf } from './stored-response.ts'

/** The filter and the page of a list of responses, without the organization. */
export type ListRequest = Omit<ResponseQuery, 'organization'>

const listQuery = defineQuery({
  model: Type.Optional(Type.String({ description: 'Only responses of this model.' })),
  status: Type.Optional(stringEnum(responseStatuses, { description: 'Only responses with this status.' })),
  ...pageParameters('response', 'desc'),
})

/** The parameters of the list of responses. */
export const listParameters = {
  ...listQuery.parameters,
  metadata: Type.Unsafe({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Only responses whose metadata has all of these pairs. Values are compared as text.',
  }),
}

/** Reads the query string of the list of responses; throws the 400 of an invalid parameter. */
export function readListRequest(request: Request): ListRequest {
  const { model, status, ...page } = listQuery.read(request)
  if (page.after !== undefined && !/^resp_[0-9a-f]{32}$/.test(page.after)) throw invalidCursor('a response')
  return { ...toPage(page, 'desc'), model, status, metadata: readPairs(request, 'metadata') }
}

/** The dependencies of a list. */
type ListDependencies = ResponseStores & {
  readonly models: () => Models
  readonly options: RenderOptions
}

/** One page of the stored responses of an organization, and of its background runs, as JSON in parts. */
export async function listResponses(
  organization: string,
  request: ListRequest,
  parts: ListDependencies,
  acquireMemory: AcquireMemory,
): Promise<readonly string[]> {
  // Responses are stored under the slug; that of a model that was removed is looked up as it is.
  const model = request.model && (parts.models().find(request.model)?.slug ?? request.model)
  const { responses, last, hasMore } = await parts.responses.list(
    { ...request, model, organization },
    acquireMemory,
  )
  const rendered = await renderAll(organization, responses, parts)
  // An empty page has no cursor for the next one.
  if (rendered.length === 0 && hasMore)
    return listResponses(organization, { ...request, after: last }, parts, acquireMemory)
  return renderList(
    rendered.map(({ id }) => id),
    rendered.map(({ json }) => [json]),
    hasMore,
  )
}

type Rendered = { readonly id: string; readonly json: string }

/** In characters: the logs and the JSON of the responses that are rendered in one turn of the event loop. */
const turnLength = 256 * 1024

async function renderAll(
  organization: string,
  responses: readonly StoredResponse[],
  parts: ListDependencies,
): Promise<readonly Rendered[]> {
  const rendered: Rendered[] = []
  let length = 0
  for (const response of responses) {
    const [one] = renderOne(organization, response, parts)
    if (one) rendered.push(one)
    length += response.log.length + (one?.json.length ?? 0)
    if (length < turnLength) continue
    length = 0
    await nextTurn()
  }
  return rendered
}

/** Nothing for a damaged response. A run in progress has a newer state than its log. */
function renderOne(
  organization: string,
  stored: StoredResponse,
  { live, options }: ListDependencies,
): readonly Rendered[] {
  const { id } = stored
  try {
    const newest = isUnfinished(stored) ? live.find(organization, id)?.show() : undefined
    const state = newest ?? readStored(`response ${id}`, () => stateOf(stored))
    return [{ id, json: JSON.stringify(renderResponse(state, options)) }]
  } catch (error) {
    if (error instanceof UnreadableError) return []
    throw error
  }
}

/** A page, as JSON in parts, of the input items of a stored response, with its references resolved; throws the 404. */
export async function listInputItems(
  organization: string,
  id: string,
  page: Page,
  { responses }: Pick<ResponseStores, 'responses'>,
  acquireMemory: AcquireMemory,
): Promise<readonly string[]> {
  const input = await responses.findInput(organization, id, acquireMemory)
  if (input === undefined) throw responseNotFound(id)
  return renderSlice(slicePage(input.map(renderInputItem), page, indexOf))
}

type InputItem = InputItemList['data'][number]

/** Clients expect what the API adds to an item: its status, and the parts of a message that was sent as text alone. */
function renderInputItem(stored: JsonObject): InputItem {
  // The request schema validated it before it was stored.
  const item = stored as unknown as InputItem & { readonly role?: string; readonly content?: unknown }
  if (toolItems.has(item.type)) return { status: 'completed', ...item } as InputItem
  if (item.type !== 'message') return item
  const { role, content } = item
  const parts = typeof content === 'string' ? [toPart(content, role)] : content
  return {
    status: 'completed',
    ...item,
    content: Array.isArray(parts) ? parts.map(withDefaults) : parts,
  } as InputItem
}

const toolItems = nameSet('function_call function_call_output custom_tool_call custom_tool_call_output')

function toPart(text: string, role: string | undefined): Fields {
  return { type: role === 'assistant' ? 'output_text' : 'input_text', text }
}

/** Adds the fields that OpenAI's SDKs require. */
function withDefaults(part: unknown): unknown {
  if (!isObject(part)) return part
  if (part.type === 'input_image') return { detail: 'auto', ...part }
  return part.type === 'output_text' ? { annotations: [], logprobs: [], ...part } : part
}

function indexOf(cursor: string, ordered: readonly InputItem[]): number {
  const index = ordered.findIndex(({ id }) => id === cursor)
  if (index < 0) throw invalidCursor('an input item of this response')
  return index
}

import type { ChatCompletion } from '../../src/api/chat-completions/reply-schema.ts'
import type { App, RequestOptions } from './app.ts'
import { chatRequest } from './scenario.ts'

/** A page of a list. */
export type ListBody<Item> = {
  readonly object: string
  readonly data: readonly Item[]
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

export const storedPath = '/v1/chat/completions'

/** Creates a stored completion and returns its reply. */
export async function storeCompletion(
  app: App,
  more: object = {},
  options: RequestOptions = {},
): Promise<ChatCompletion> {
  const reply = await app.chat({ ...chatRequest, store: true, ...more }, options)
  if (reply.status !== 200) throw new Error(`It was not stored: ${await reply.text()}`)
  return (await reply.json()) as ChatCompletion
}

/** Lists stored completions; `query` is the query string. */
export async function listCompletions(
  app: App,
  query = '',
  options: RequestOptions = {},
): Promise<ListBody<ChatCompletion>> {
  const reply = await app.request(`${storedPath}?${query}`, options)
  if (reply.status !== 200) throw new Error(`There is no list: ${await reply.text()}`)
  return (await reply.json()) as ListBody<ChatCompletion>
}

/** The ids of a list of stored completions. */
export async function listCompletionIds(
  app: App,
  query = '',
  options: RequestOptions = {},
): Promise<string[]> {
  return (await listCompletions(app, query, options)).data.map(({ id }) => id)
}

/** Retrieves a stored completion. */
export async function retrieveCompletion(
  app: App,
  id: string,
  options: RequestOptions = {},
): Promise<unknown> {
  return await (await app.request(`${storedPath}/${id}`, options)).json()
}

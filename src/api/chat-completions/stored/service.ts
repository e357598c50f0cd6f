import type { Models } from '../../../gateway/models/models.ts'
import { invalidCursor, type Page } from '../../../http/paging.ts'
import { completionNotFound } from '../../../lib/errors/errors.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { type Completions, sequenceOf } from '../../../storage/ports/completions.ts'
import { parseStoredList } from '../../../storage/ports/stored-json.ts'
import type { ChatMessage } from '../message-schema.ts'
import { renderCompletionList, renderMessageList, renderStored } from './render.ts'
import type { DeletedCompletion, ListRequest } from './schema.ts'

export type CompletionServiceDependencies = {
  readonly completions: Completions
  readonly models: () => Models
}

/**
 * The stored completions of an organization. The completion of another organization is a 404, like one that does not
 * exist. Results are JSON in parts; `hold` is called with their bytes before they are read.
 */
export type CompletionService = {
  /** One page of completions. */
  list(organization: string, query: ListRequest, hold: AcquireMemory): Promise<readonly string[]>
  find(organization: string, id: string, hold: AcquireMemory): Promise<readonly string[]>
  /** Replaces the metadata. */
  update(organization: string, id: string, metadata: Fields, hold: AcquireMemory): Promise<readonly string[]>
  remove(organization: string, id: string): Promise<DeletedCompletion>
  /** One page of the messages of the request that the completion answers. */
  messages(organization: string, id: string, page: Page, hold: AcquireMemory): Promise<readonly string[]>
}

export function createCompletionService({
  completions,
  models,
}: CompletionServiceDependencies): CompletionService {
  return {
    async list(organization, query, hold) {
      if (query.after !== undefined && sequenceOf(query.after) === undefined)
        throw invalidCursor('a chat completion')
      const model = query.model === undefined ? undefined : slugOf(query.model, models())
      return renderCompletionList(await completions.list({ ...query, organization, model }, hold))
    },
    async find(organization, id, hold) {
      return renderStored(required(await completions.find(organization, id, hold), id))
    },
    async update(organization, id, metadata, hold) {
      return renderStored(required(await completions.updateMetadata(organization, id, metadata, hold), id))
    },
    async remove(organization, id) {
      if (!(await completions.remove(organization, id))) throw completionNotFound(id)
      return { id, object: 'chat.completion.deleted', deleted: true }
    },
    async messages(organization, id, page, hold) {
      const json = required(await completions.findMessages(organization, id, hold), id)
      // The request schema validated them before they were stored.
      return renderMessageList(id, await parseStoredList<ChatMessage>(`completion ${id}`, json), page)
    },
  }
}

function required<Value>(value: Value | undefined, id: string): Value {
  if (value === undefined) throw completionNotFound(id)
  return value
}

/** Completions are stored under the slug; the slug of a model that was removed is looked up as it is. */
function slugOf(name: string, models: Models): string {
  return models.find(name)?.slug ?? name
}

import type { Models } from '../../../gateway/models/model.ts'
import type { Page } from '../../../http/paging.ts'
import { badRequest, completionNotFound } from '../../../lib/errors/errors.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Hold } from '../../../lib/memory-budget.ts'
import type { Completions } from '../../../storage/ports/completions.ts'
import { sequenceOf } from '../../../storage/ports/completion-sequence.ts'
import { parseStoredList } from '../../../storage/ports/stored-json.ts'
import { renderCompletionList, renderStored } from './render.ts'
import type { ChatMessage } from '../schema.ts'
import { pageOfMessages } from './messages.ts'
import type { DeletedCompletion, ListRequest } from './schema.ts'

export type StoredServiceParts = {
  readonly completions: Completions
  readonly models: () => Models
}

/**
 * The completions that an organization has kept. What it does not have is a 404, whoever else may have it. What is found
 * is JSON, in parts, whose bytes `hold` is asked for.
 */
export type StoredService = {
  /** A page. */
  list(organization: string, asked: ListRequest, hold: Hold): Promise<readonly string[]>
  find(organization: string, id: string, hold: Hold): Promise<readonly string[]>
  /** Puts other metadata in the place of what it has. */
  update(organization: string, id: string, metadata: Fields, hold: Hold): Promise<readonly string[]>
  remove(organization: string, id: string): Promise<DeletedCompletion>
  /** A page of the messages of its request. */
  messages(organization: string, id: string, page: Page, hold: Hold): Promise<readonly string[]>
}

export function createStoredService({ completions, models }: StoredServiceParts): StoredService {
  return {
    async list(organization, asked, hold) {
      if (asked.after !== undefined && sequenceOf(asked.after) === undefined) throw invalidCursor()
      const model = asked.model === undefined ? undefined : slugOf(asked.model, models())
      return renderCompletionList(await completions.list({ ...asked, organization, model }, hold))
    },
    async find(organization, id, hold) {
      return renderStored(found(await completions.find(organization, id, hold), id))
    },
    async update(organization, id, metadata, hold) {
      return renderStored(found(await completions.updateMetadata(organization, id, metadata, hold), id))
    },
    async remove(organization, id) {
      if (!(await completions.remove(organization, id))) throw completionNotFound(id)
      return { id, object: 'chat.completion.deleted', deleted: true }
    },
    async messages(organization, id, page, hold) {
      const json = found(await completions.messages(organization, id, hold), id)
      // They were checked when they came.
      return pageOfMessages(id, await parseStoredList<ChatMessage>(`completion ${id}`, json), page)
    },
  }
}

function found<Value>(value: Value | undefined, id: string): Value {
  if (value === undefined) throw completionNotFound(id)
  return value
}

/** Completions are kept under the slug; a model that is gone has only that. */
function slugOf(name: string, models: Models): string {
  return models.find(name)?.slug ?? name
}

function invalidCursor(): Error {
  return badRequest("Invalid 'after': it is no id of a chat completion.", 'invalid_value', 'after')
}

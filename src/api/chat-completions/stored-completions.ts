import type { AnswerAccumulator } from '../../domain/generation/answer.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import type { Models } from '../../gateway/models/models.ts'
import { invalidCursor, type Page, renderList, renderSlice, slicePage } from '../../http/paging.ts'
import { completionNotFound } from '../../lib/errors/errors.ts'
import type { Fields } from '../../lib/json/json.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import {
  type CompletionPage,
  type Completions,
  sequenceOf,
  type StoredCompletion,
} from '../../storage/ports/completions.ts'
import { noWrites, type Write } from '../../storage/ports/ledger.ts'
import { parseStoredList } from '../../storage/ports/stored-json.ts'
import type { ChatMessage } from './message-schema.ts'
import { renderCompletion, type ReplyMetadata } from './render.ts'
import type { ChatRequest } from './schema.ts'
import type { DeletedCompletion, ListRequest, StoredMessage } from './stored-schema.ts'

type CompletionServiceDependencies = {
  readonly completions: Completions
  readonly models: () => Models
}

/**
 * The stored completions of an organization. The completion of another organization is a 404, like one that does not
 * exist. Results are JSON in parts; `acquireMemory` is called with their bytes before they are read.
 */
export type CompletionService = ReturnType<typeof createCompletionService>

export function createCompletionService({ completions, models }: CompletionServiceDependencies) {
  return {
    /** One page of completions. */
    async list(organization: string, query: ListRequest, acquireMemory: AcquireMemory) {
      if (query.after !== undefined && sequenceOf(query.after) === undefined)
        throw invalidCursor('a chat completion')
      const model = query.model === undefined ? undefined : slugOf(query.model, models())
      return renderCompletionList(await completions.list({ ...query, organization, model }, acquireMemory))
    },
    async find(organization: string, id: string, acquireMemory: AcquireMemory) {
      return renderStored(required(await completions.find(organization, id, acquireMemory), id))
    },
    /** Replaces the metadata. */
    async update(organization: string, id: string, metadata: Fields, acquireMemory: AcquireMemory) {
      const updated = await completions.updateMetadata(organization, id, metadata, acquireMemory)
      return renderStored(required(updated, id))
    },
    async remove(organization: string, id: string): Promise<DeletedCompletion> {
      if (!(await completions.remove(organization, id))) throw completionNotFound(id)
      return { id, object: 'chat.completion.deleted', deleted: true }
    },
    /** One page of the messages of the request that the completion answers. */
    async messages(organization: string, id: string, page: Page, acquireMemory: AcquireMemory) {
      const json = required(await completions.findMessages(organization, id, acquireMemory), id)
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

/** Renders a stored completion as JSON in parts. They are joined from text, because none of it has to be parsed. */
function renderStored({ completion, metadata }: StoredCompletion): readonly string[] {
  return [completion.slice(0, -1), ',"metadata":', metadata, '}']
}

/** Renders a page of stored completions as JSON in parts. */
function renderCompletionList({ completions, hasMore: more }: CompletionPage): readonly string[] {
  const ids = completions.map(({ id }) => id)
  return renderList(ids, completions.map(renderStored), more)
}

/** Renders a page of the messages of a completion as JSON in parts; the id of a message ends with its index. */
function renderMessageList(
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

/** Stores one completion, if its answer is complete. */
export type CompletionRecorder = {
  /** Notes the metadata of the reply, when the answer begins. */
  onStarted(metadata: ReplyMetadata): void
  /** Returns the write that stores it; none for an answer that is not complete. */
  onSettled(error: unknown, usage: MeteredUsage): readonly Write[]
}

/** Creates the recorder of a request of the organization, which stores the answer of the fold when it ends. */
export function createCompletionRecorder(
  request: ChatRequest,
  organization: string,
  fold: AnswerAccumulator,
): CompletionRecorder {
  let reply: ReplyMetadata | undefined
  return {
    onStarted: (metadata) => void (reply = metadata),
    onSettled(error, usage) {
      if (error !== undefined || reply === undefined) return noWrites
      const { id, model } = reply
      const completion = renderCompletion(fold.answer(), usage, reply)
      const { metadata, messages } = request
      const row = { id, organization, model, metadata: metadata ?? {}, completion, messages }
      return [{ kind: 'insert-completion', completion: row }]
    },
  }
}

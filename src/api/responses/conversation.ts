import { badRequest } from '../../lib/errors/errors.ts'
import { listOf } from '../../lib/json/json.ts'
import type { AcquireMemory, MemoryLease } from '../../lib/memory-budget.ts'
import { shortText } from '../../lib/text.ts'
import { nextTurn } from '../../lib/time.ts'
import type { ChainLink, Responses } from '../../storage/ports/responses.ts'
import { readStored } from '../../storage/ports/stored-json.ts'
import {
  type Conversation,
  countReferences,
  inputItems,
  type Item,
  resolveReferences,
  responseIdsOf,
} from './request/items.ts'
import type { ResponseRequest } from './request/schema.ts'
import { outputOf } from './stored-response.ts'

/**
 * Loads the conversation that a request continues. Throws 404 for a reference to an item that does not exist, and 400 for
 * a previous response that does not exist, or for references to too many or too large items.
 */
export async function loadConversation(
  request: Pick<ResponseRequest, 'input' | 'previous_response_id'>,
  responseId: string,
  organization: string,
  responses: Responses,
  { memory, acquire }: ConversationMemory,
): Promise<Conversation> {
  const items = inputItems(request.input, responseId)
  const references = countReferences(items)
  if (references.size > 0) await acquire(0)
  const referenced = await loadReferenced(references, organization, responses, memory)
  const input = resolveReferences(items, referenced)
  return { context: await loadContext(request.previous_response_id, organization, responses, acquire), input }
}

/** The memory of a request; `acquire` acquires the bytes of the conversation, in its turn. */
export type ConversationMemory = { readonly memory: MemoryLease; readonly acquire: AcquireMemory }

/** The items of the response with this id and of all that it follows; none without an id. */
async function loadContext(
  previous: string | null | undefined,
  organization: string,
  responses: Responses,
  acquire: AcquireMemory,
): Promise<readonly Item[]> {
  if (previous == null) return []
  const chain = await responses.chain(organization, previous, acquire)
  if (chain === undefined) throw previousNotFound(previous)
  const items = await itemsOfChain(chain)
  if (countParts(items) > maxContextParts) throw contextTooLong()
  return items
}

/** Items and parts of their content: about twice as many as a request body has room for. */
const maxContextParts = 65_536

function countParts(items: readonly Item[]): number {
  return items.reduce((sum, { content }) => sum + 1 + listOf(content).length, 0)
}

/** In characters: the length of the logs that are decoded in one turn of the event loop. */
const sliceLength = 1024 * 1024

/** The items of these responses, decoded in slices so that the event loop is not blocked. */
export async function itemsOfChain(chain: readonly ChainLink[]): Promise<readonly Item[]> {
  const items: Item[] = []
  let characters = 0
  for (const link of chain) {
    for (const item of itemsOf(link)) items.push(item)
    characters += link.log.length
    if (characters < sliceLength) continue
    characters = 0
    await nextTurn()
  }
  return items
}

/** The items of one response: its input, then its output. */
function itemsOf(link: ChainLink): readonly Item[] {
  // The request schema validated the input before it was stored.
  return [...(link.input as readonly Item[]), ...readStored(`response ${link.id}`, () => outputOf(link))]
}

/** In characters: as much as a chain may have. */
const maxReferencedCharacters = 64 * 1024 * 1024
/** For all responses that are loaded to resolve the references of one request. */
const maxLoadedBytes = 4 * maxReferencedCharacters

/** Loads the items with these ids, each with its number of references, from responses that are not deleted. */
async function loadReferenced(
  references: ReadonlyMap<string, number>,
  organization: string,
  responses: Responses,
  memory: MemoryLease,
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>()
  let [characters, loaded] = [0, 0]
  // One response after the other, so that memory holds one of them and the referenced items.
  for (const id of responseIdsOf(references.keys())) {
    let kept = 0
    let held = 0
    const acquireMemory = (bytes: number) => {
      if ((loaded += bytes) > maxLoadedBytes) throw tooLong()
      memory.acquire(bytes)
      held += bytes
    }
    for (const item of await loadItems(organization, id, responses, acquireMemory)) {
      const count = references.get(item.id)
      if (count === undefined) continue
      const { length } = JSON.stringify(item)
      kept += length
      // The model receives the item once for each reference.
      characters += length * count
      if (characters > maxReferencedCharacters) throw tooLong()
      found.set(item.id, item)
    }
    memory.releaseBytes(held - kept)
    await nextTurn()
  }
  return found
}

async function loadItems(
  organization: string,
  id: string,
  responses: Responses,
  acquireMemory: AcquireMemory,
): Promise<readonly Item[]> {
  const found = await responses.find(organization, id, acquireMemory)
  const input = found && (await responses.findInput(organization, id, acquireMemory))
  return found && input ? itemsOf({ ...found, input }) : []
}

function tooLong(): Error {
  const message = "Invalid 'input': the referenced items are too large in total."
  return badRequest(message, 'context_length_exceeded', 'input')
}

function contextTooLong(): Error {
  const field = 'previous_response_id'
  const message = `Invalid '${field}': the conversation must have at most ${maxContextParts} items and content parts.`
  return badRequest(message, 'context_length_exceeded', field)
}

function previousNotFound(id: string): Error {
  const message = `Previous response with id '${shortText(id, 100)}' not found. It may have been deleted, not been stored, or still be in progress.`
  return badRequest(message, 'previous_response_not_found', 'previous_response_id')
}

import { badRequest } from '../../lib/errors/errors.ts'
import type { Hold, MemoryLease } from '../../lib/memory-budget.ts'
import { shortText } from '../../lib/text.ts'
import { nextTurn } from '../../lib/time.ts'
import type { ChainLink, Responses } from '../../storage/ports/responses.ts'
import { readStored } from '../../storage/ports/stored-json.ts'
import { inputItems, type Item } from './request/items.ts'
import { referencesIn, responsesOf, withReferences } from './request/references.ts'
import type { ResponseRequest } from './request/schema.ts'
import { outputOf } from './stored-response.ts'

/** What a model is to read, as items without references. */
export type Conversation = {
  /** Those of the responses that this one follows, the oldest first. */
  readonly context: readonly Item[]
  /** Those of the request itself, with what its references name in their places. */
  readonly input: readonly Item[]
}

/** The conversation that a request of the organization goes on with, or the 400 or 404 that says what is missing. */
export async function conversationOf(
  request: Pick<ResponseRequest, 'input' | 'previous_response_id'>,
  responseId: string,
  organization: string,
  responses: Responses,
  memory: MemoryLease,
): Promise<Conversation> {
  const given = inputItems(request.input, responseId)
  const found = await referred(referencesIn(given), organization, responses, memory)
  const input = withReferences(given, found)
  return { context: await contextOf(request.previous_response_id, organization, responses, memory), input }
}

/** The items of the response with this id and of all that it follows; none without an id. */
async function contextOf(
  previous: string | null | undefined,
  organization: string,
  responses: Responses,
  memory: MemoryLease,
): Promise<readonly Item[]> {
  if (previous == null) return []
  const chain = await responses.chain(organization, previous, memory.take)
  if (chain === undefined) throw previousNotFound(previous)
  return await itemsOfChain(chain)
}

/** In characters: so much of the logs is read in one turn of the event loop. */
const sliceLength = 1024 * 1024

/** What these responses add to a conversation, in steps with other work between. */
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

/** What this response adds to a conversation: what was asked, and what was answered. */
function itemsOf(link: ChainLink): readonly Item[] {
  // Stored as they were when they passed for items.
  return [...(link.input as readonly Item[]), ...readStored(`response ${link.id}`, () => outputOf(link))]
}

/** The items that these ids name, of those responses of the organization that anybody can still see. */
async function referred(
  occurrences: ReadonlyMap<string, number>,
  organization: string,
  responses: Responses,
  memory: MemoryLease,
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>()
  let [characters, loaded] = [0, 0]
  // One after the other, so that no more is held than what is named.
  for (const id of responsesOf(occurrences.keys())) {
    let kept = 0
    let held = 0
    const hold = (bytes: number) => {
      if ((loaded += bytes) > maxLoadedBytes) throw tooLong()
      memory.take(bytes)
      held += bytes
    }
    for (const item of await itemsIn(organization, id, responses, hold)) {
      const count = occurrences.get(item.id)
      if (count === undefined) continue
      const { length } = JSON.stringify(item)
      kept += length
      // A model reads it as often as it is referred to.
      characters += length * count
      if (characters > mostCharacters) throw tooLong()
      found.set(item.id, item)
    }
    memory.giveBack(held - kept)
    await nextTurn()
  }
  return found
}

/** As much as a chain may have. */
const mostCharacters = 64 * 1024 * 1024
/** Of all responses that are read for it. */
const maxLoadedBytes = 4 * mostCharacters

async function itemsIn(
  organization: string,
  id: string,
  responses: Responses,
  hold: Hold,
): Promise<readonly Item[]> {
  const found = await responses.find(organization, id, hold)
  const input = found && (await responses.findInput(organization, id, hold))
  return found && input ? itemsOf({ ...found, input }) : []
}

function tooLong(): Error {
  const message = "Invalid 'input': the items that its references name are too long together."
  return badRequest(message, 'context_length_exceeded', 'input')
}

function previousNotFound(id: string): Error {
  const message = `Previous response with id '${shortText(id, 100)}' not found. It may be deleted, not stored, or not finished yet.`
  return badRequest(message, 'previous_response_not_found', 'previous_response_id')
}

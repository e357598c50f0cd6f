import { readFacts, type RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { fieldsOf, isObject, type JsonObject, parseJson } from '../../../lib/json/json.ts'
import type { Hold } from '../../../lib/memory-budget.ts'
import type { Responses, UnfinishedRun } from '../../../storage/ports/responses.ts'
import { type Conversation, itemsOfChain } from '../conversation.ts'
import { decodeEvents } from '../events/event-log.ts'
import { LiveResponse } from '../live/live-response.ts'
import type { Item } from '../request/items.ts'
import type { ResponseRequest } from '../request/schema.ts'
import { fromStoredHead } from '../stored-response.ts'

/** A run as an earlier process has left it. */
export type StoredRun = {
  readonly row: UnfinishedRun
  readonly live: LiveResponse
  readonly order: RunOrder
}

/** One of which a part cannot be read. */
export type DamagedRun = { readonly row: UnfinishedRun; readonly live: undefined; readonly order?: RunOrder }

/** Reads what is stored of a run. */
export function toStoredRun(row: UnfinishedRun): StoredRun | DamagedRun {
  const [live, order] = [liveIn(row), orderOf(row)]
  return live && order ? { row, live, order } : { row, live: undefined, order }
}

function liveIn({ id, organization, head: json, log }: UnfinishedRun): LiveResponse | undefined {
  const head = parseJson(json)
  if (!isObject(head) || head.id !== id) return undefined
  try {
    const live = new LiveResponse(organization, fromStoredHead(head as JsonObject))
    for (const event of decodeEvents(log)) live.apply(event)
    return live
  } catch {
    return undefined
  }
}

function orderOf({ organization, run: json }: UnfinishedRun): RunOrder | undefined {
  const { request, facts, promptTokens, images } = fieldsOf(parseJson(json))
  const readable =
    typeof fieldsOf(request).model === 'string' && Number.isFinite(promptTokens) && Number.isFinite(images)
  if (!readable || readFacts(JSON.stringify(facts), organization) === undefined) return undefined
  return fromStoredOrder(JSON.parse(json) as JsonObject)
}

/** What is stored of a background run for as long as it is not over: it may have to begin in another process. */
export type RunOrder = {
  /** Without its input, which is stored with the response, and what only its facts say. */
  readonly request: ResponseRequest
  readonly facts: RequestMetadata
  /** An estimate. */
  readonly promptTokens: number
  /** How many the prompt holds. */
  readonly images: number
}

/** The order as it is stored. */
export function storedOrder({ request, ...rest }: RunOrder): JsonObject {
  // It came as JSON, or was made of it.
  return { ...rest, request: { ...request, input: [], tags: null, trace: null } } as unknown as JsonObject
}

/** The order as it was stored. */
export function fromStoredOrder(stored: JsonObject): RunOrder {
  return stored as unknown as RunOrder
}

/** What a stored run asks: its request, and the conversation that it goes on with, whose bytes `hold` is asked for. */
export async function readRun(
  organization: string,
  id: string,
  responses: Responses,
  hold: Hold,
): Promise<{ readonly request: ResponseRequest; readonly conversation: Conversation }> {
  const order = await responses.findRun(organization, id)
  const chain = await responses.runContext(organization, id, hold)
  const own = chain?.at(-1)
  if (order === undefined || chain === undefined || own === undefined) throw gone()
  const context = await itemsOfChain(chain.slice(0, -1))
  // Stored as they were when they passed for items.
  return {
    request: fromStoredOrder(order).request,
    conversation: { context, input: own.input as readonly Item[] },
  }
}

/** The organization was deleted at this moment, or an earlier response of the conversation just before this one. */
function gone(): Error {
  return badRequest(
    'What this run goes on with was deleted.',
    'previous_response_not_found',
    'previous_response_id',
  )
}

import { readRequestMetadata, type RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import type { Model } from '../../../gateway/models/model.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { fieldsOf, isObject, type JsonObject, parseJson } from '../../../lib/json/json.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import type { UnfinishedRun } from '../../../storage/ports/run-store.ts'
import { itemsOfChain } from '../conversation.ts'
import { decodeEvents } from '../events/event-log.ts'
import { LiveResponse } from '../live/live-response.ts'
import type { Conversation, Item } from '../request/items.ts'
import type { ResponseRequest } from '../request/schema.ts'
import { fromStoredHead } from '../stored-response.ts'

/** What is stored of a run, beside its response, until it has ended: another process may have to start it. */
export type StoredRequest = {
  /** Without the input, which is stored with the response, and without what the metadata has. */
  readonly request: ResponseRequest
  /** The name is part of the stored format. */
  readonly facts: RequestMetadata
  /** An estimate. */
  readonly promptTokens: number
  /** The number of images in the prompt. */
  readonly images: number
  /** The prices at the reservation, which it pays; a run that an earlier version has queued has none. */
  readonly prices?: Prices
}

/** The prices of a model in each of its service tiers. */
type Prices = Pick<Model, 'pricing' | 'fast'>

/** The model with the prices that were in force when the run was queued, if it had some. */
export function withPrices(model: Model, prices: Prices | undefined): Model {
  if (prices?.pricing === undefined) return model
  return { ...model, pricing: prices.pricing, fast: prices.fast ?? model.fast }
}

/** Converts the request of a run for storage. */
export function toStoredJson({ request, ...rest }: StoredRequest): JsonObject {
  // It consists of JSON values only.
  return { ...rest, request: { ...request, input: [], tags: null, trace: null } } as unknown as JsonObject
}

/** Converts a stored request. */
function fromStoredJson(stored: JsonObject): StoredRequest {
  // Only `toStoredJson` writes it.
  return stored as unknown as StoredRequest
}

/** An unfinished run of an earlier process. */
export type StoredRun = {
  readonly row: UnfinishedRun
  readonly live: LiveResponse
  readonly request: StoredRequest
}

/** An unfinished run of which a part cannot be read. */
export type DamagedRun = {
  readonly row: UnfinishedRun
  readonly live: undefined
  readonly request?: StoredRequest | undefined
}

/** Parses the row of an unfinished run. */
export function parseRun(row: UnfinishedRun): StoredRun | DamagedRun {
  const [live, request] = [parseLive(row), parseStoredRequest(row)]
  return live && request ? { row, live, request } : { row, live: undefined, request }
}

function parseLive({ id, organization, head: json, log }: UnfinishedRun): LiveResponse | undefined {
  const head = parseJson(json)
  if (!isObject(head) || head.id !== id) return undefined
  try {
    const live = new LiveResponse(organization, fromStoredHead(head as JsonObject))
    for (const event of decodeEvents(log)) live.apply(event)
    live.markStored()
    return live
  } catch {
    return undefined
  }
}

function parseStoredRequest({ organization, run: json }: UnfinishedRun): StoredRequest | undefined {
  const { request, facts, promptTokens, images } = fieldsOf(parseJson(json))
  const readable =
    typeof fieldsOf(request).model === 'string' && Number.isFinite(promptTokens) && Number.isFinite(images)
  if (!readable || readRequestMetadata(JSON.stringify(facts), organization) === undefined) return undefined
  return fromStoredJson(JSON.parse(json) as JsonObject)
}

/**
 * Reads the request of a stored run and the conversation that it continues. `acquireMemory` is called with the bytes of the
 * conversation before it is read. Throws 400 if a part of it was deleted.
 */
export async function readRun(
  organization: string,
  id: string,
  responses: Responses,
  acquireMemory: AcquireMemory,
): Promise<Pick<StoredRequest, 'request' | 'prices'> & { readonly conversation: Conversation }> {
  const stored = await responses.findRun(organization, id)
  const chain = await responses.runContext(organization, id, acquireMemory)
  const own = chain?.at(-1)
  if (stored === undefined || chain === undefined || own === undefined) throw deleted()
  const context = await itemsOfChain(chain.slice(0, -1))
  // The request schema validated the input before it was stored.
  const { request, prices } = fromStoredJson(stored)
  return {
    request,
    ...(prices && { prices }),
    conversation: { context, input: own.input as readonly Item[] },
  }
}

/** The organization was deleted meanwhile, or an earlier response of the conversation just before this one was stored. */
function deleted(): Error {
  return badRequest(
    'The previous response that this background run continues was deleted.',
    'previous_response_not_found',
    'previous_response_id',
  )
}

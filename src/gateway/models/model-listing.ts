import { parseJson } from '../../lib/json/json.ts'
import { readText, TooLongError } from '../../lib/read-text.ts'
import { defaultListing } from '../../providers/model-listing.ts'
import type { ListedModel, ListingDetails, Provider, RemoteKind } from '../../providers/provider.ts'
import { upstreamHeaders } from '../streams/upstream-request.ts'

const defaultTimeoutMs = 10_000
const maxBodyBytes = 8 * 1024 * 1024

/**
 * Lists the models of the provider, each id once; throws an error with the reason as a sentence. Details of
 * `known` models are not requested again.
 */
export async function listModels(
  provider: Provider,
  kind: RemoteKind,
  signal: AbortSignal,
  { deadline: timeoutMs = defaultTimeoutMs, known = [] }: ListingOptions = {},
): Promise<readonly ListedModel[]> {
  const { path, models, details } = kind.listing ?? defaultListing
  const listingPath = path(provider)
  if (listingPath === undefined) throw new Error('It has no model list.')
  const limitedSignal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const response = await fetch(provider.baseUrl + listingPath, {
    headers: upstreamHeaders(provider, kind, false),
    // A redirect would send the key to a host that is not configured.
    redirect: 'manual',
    signal: limitedSignal,
  })
  const text = await boundedText(response)
  if (!response.ok) throw new ListingError(`It returned status ${response.status}.`, response.status)
  const listed = uniqueModels(models(parseJson(text)))
  return details ? withDetails(listed, { provider, kind, details, known, signal: limitedSignal }) : listed
}

/** The provider responded, but not with a list of its models. */
export class ListingError extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.name = 'Error'
    this.status = status
  }
}

type ListingOptions = {
  /** Milliseconds for all requests together. */
  readonly deadline?: number
  readonly known?: readonly ListedModel[]
}

async function boundedText(response: Response): Promise<string> {
  try {
    return await readText(response, maxBodyBytes)
  } catch (error) {
    throw error instanceof TooLongError ? new Error('Its model list is too large.') : error
  }
}

function uniqueModels(models: readonly Partial<ListedModel>[] | undefined): ListedModel[] {
  if (models === undefined) throw new ListingError('It did not return a model list.', 200)
  const byId = new Map<string, ListedModel>()
  for (const { id, contextWindow } of models)
    if (id !== undefined && /^\S+$/.test(id) && !byId.has(id)) byId.set(id, { id, contextWindow })
  return [...byId.values()]
}

const maxConcurrent = 4
/** Requests for one list; the next refresh continues where this one ended. */
const maxModels = 200

type DetailsInput = {
  readonly provider: Provider
  readonly kind: RemoteKind
  readonly details: ListingDetails
  /** The models of the last list. */
  readonly known: readonly ListedModel[]
  readonly signal: AbortSignal
}

/**
 * Adds the context windows and the slots that the provider reports to the models; they stay undefined where it reports none.
 */
async function withDetails(
  models: readonly ListedModel[],
  input: DetailsInput,
): Promise<readonly ListedModel[]> {
  const { changes = false } = input.details
  const found = new Map(input.known.map((model) => [model.id, model]))
  const isKnown = (id: string) => found.get(id)?.contextWindow !== undefined
  const queue = models.filter(({ id }) => changes || !isKnown(id)).slice(0, maxModels)
  async function worker(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { contextWindow = found.get(next.id)?.contextWindow, slots } = await detailsOf(next.id, input)
      found.set(next.id, { id: next.id, contextWindow, slots })
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, worker))
  return models.map((model) => ({
    id: model.id,
    contextWindow: found.get(model.id)?.contextWindow ?? model.contextWindow,
    slots: found.get(model.id)?.slots,
  }))
}

/** Nothing if the request fails: the model is listed all the same. */
async function detailsOf(
  id: string,
  { provider, kind, details, signal }: DetailsInput,
): Promise<Omit<ListedModel, 'id'>> {
  const url = details.url(provider, id)
  if (url === undefined) return {}
  const body = details.body && JSON.stringify(details.body(id))
  try {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...upstreamHeaders(provider, kind, false), 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal,
    })
    const text = await readText(response, maxBodyBytes)
    if (!response.ok) return {}
    const parsed = parseJson(text)
    return { contextWindow: details.contextWindow(parsed), slots: details.slots?.(parsed) }
  } catch {
    return {}
  }
}

import { parseJson } from '../../lib/json/json.ts'
import { readText, TooLongError } from '../../lib/read-text.ts'
import { defaultListing } from '../../providers/model-listing.ts'
import type { ListedModel, Provider, RemoteKind } from '../../providers/provider.ts'
import { upstreamHeaders } from '../upstream/headers.ts'
import { withDetails } from './model-details.ts'

/** Milliseconds. */
const defaultTimeoutMs = 10_000
/** Bytes. */
const maxBodyBytes = 8 * 1024 * 1024

/** Whether the provider has an endpoint that lists its models. */
export function isListed(provider: Provider, kind: RemoteKind): boolean {
  return (kind.listing ?? defaultListing).path(provider) !== undefined
}

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

export type ListingOptions = {
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

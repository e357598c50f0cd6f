import { parseJson } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { ListedModel, ListingDetails, Provider, RemoteKind } from '../../providers/provider.ts'
import { upstreamHeaders } from '../upstream/headers.ts'

/** Bytes. */
const maxBodyBytes = 8 * 1024 * 1024
/** Concurrent requests. */
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
 * Adds the context windows that the provider reports to the models; the window of a model stays undefined
 * where it reports none.
 */
export async function withDetails(
  models: readonly ListedModel[],
  input: DetailsInput,
): Promise<readonly ListedModel[]> {
  const url = input.details.url(input.provider)
  if (url === undefined) return models
  const windows = new Map(input.known.map(({ id, contextWindow }) => [id, contextWindow]))
  const queue = models.filter(({ id }) => windows.get(id) === undefined).slice(0, maxModels)
  async function worker(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      windows.set(next.id, await contextWindowOf(next.id, url ?? '', input))
  }
  await Promise.all(Array.from({ length: maxConcurrent }, worker))
  return models.map((model) => ({ ...model, contextWindow: windows.get(model.id) ?? model.contextWindow }))
}

/** Undefined if the request fails: the model is listed all the same. */
async function contextWindowOf(
  id: string,
  url: string,
  { provider, kind, details, signal }: DetailsInput,
): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...upstreamHeaders(provider, kind, false), 'content-type': 'application/json' },
      body: JSON.stringify(details.body(id)),
      redirect: 'manual',
      signal,
    })
    const text = await readText(response, maxBodyBytes)
    return response.ok ? details.contextWindow(parseJson(text)) : undefined
  } catch {
    return undefined
  }
}

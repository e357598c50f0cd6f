import { parseJson, textOf } from '../../lib/json.ts'
import { readText, TooLong } from '../../lib/read-text.ts'
import { usualListing } from '../../providers/model-listing.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import { upstreamHeaders } from '../upstream/headers.ts'

/** Milliseconds. */
const longestWait = 10_000
/** Bytes. */
const largestBody = 8 * 1024 * 1024

/** Whether there is a list of its models that could be asked for. */
export function isListed(provider: Provider, kind: RemoteKind): boolean {
  return (kind.listing ?? usualListing).path(provider) !== undefined
}

/** The ids of the models that the provider says it has, each once. Throws a sentence that says why it cannot. */
export async function listModels(
  provider: Provider,
  kind: RemoteKind,
  signal: AbortSignal,
  deadline = longestWait,
): Promise<readonly string[]> {
  const { path, names } = kind.listing ?? usualListing
  const place = path(provider)
  if (place === undefined) throw new Error('It has no list of models that could be asked for.')
  const response = await fetch(provider.baseUrl + place, {
    headers: upstreamHeaders(provider, kind, false),
    // A redirect would carry the key to a host that nobody configured.
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadline)]),
  })
  const text = await boundedText(response)
  if (!response.ok) throw new Error(`It answered with status ${response.status}.`)
  return modelIds(names(parseJson(text)))
}

async function boundedText(response: Response): Promise<string> {
  try {
    return await readText(response, largestBody)
  } catch (error) {
    throw error instanceof TooLong ? new Error('Its list is too long.') : error
  }
}

function modelIds(names: readonly unknown[] | undefined): string[] {
  if (names === undefined) throw new Error('It answered with no list of models.')
  const ids = names.flatMap((name) => textOf(name) ?? []).filter((id) => /^\S+$/.test(id))
  return [...new Set(ids)]
}

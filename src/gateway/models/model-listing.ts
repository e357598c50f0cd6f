import { isObject, listOf, parseJson, textOf } from '../../lib/json.ts'
import { readText, TooLong } from '../../lib/read-text.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import { upstreamHeaders } from '../upstream/headers.ts'

/** Milliseconds. */
const deadline = 10_000
/** Bytes. */
const largestBody = 8 * 1024 * 1024

/** The ids of the models that the provider says it has, each once. Throws a sentence that says why it cannot. */
export async function listModels(
  provider: Provider,
  kind: RemoteKind,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const response = await fetch(`${provider.baseUrl}/models`, {
    headers: { accept: 'application/json', ...upstreamHeaders(provider, kind) },
    // A redirect would carry the key to a host that nobody configured.
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadline)]),
  })
  const text = await boundedText(response)
  if (!response.ok) throw new Error(`It answered with status ${response.status}.`)
  return modelIds(parseJson(text))
}

async function boundedText(response: Response): Promise<string> {
  try {
    return await readText(response, largestBody)
  } catch (error) {
    throw error instanceof TooLong ? new Error('Its list is too long.') : error
  }
}

function modelIds(body: unknown): string[] {
  if (!isObject(body) || !Array.isArray(body.data)) throw new Error('It answered with no list of models.')
  const ids = listOf(body.data).flatMap((entry) => {
    const id = isObject(entry) ? textOf(entry.id) : undefined
    return id !== undefined && /^\S+$/.test(id) ? [id] : []
  })
  return [...new Set(ids)]
}

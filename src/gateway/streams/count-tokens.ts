import type { Generation } from '../../domain/generation/request.ts'
import { fieldsOf, numberOf, parseJson } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { Stopwatch } from '../../lib/time.ts'
import type { Model, ModelRoute } from '../models/model.ts'
import { withoutAttribution } from './attribution.ts'
import { sourceHeaders, upstreamHeaders } from './upstream-request.ts'

/** Milliseconds. Clients count before they send: an estimate now is better than an exact count later. */
const timeoutMs = 5000
/** Bytes: the reply is a single number. */
const maxReplyBytes = 64 * 1024

/**
 * Counts the tokens of the prompt with the first provider of the model that offers that; undefined where none does, or
 * where it fails. The stopwatch runs while it waits.
 */
export async function countUpstream(
  { routes }: Pick<Model, 'routes'>,
  generation: Generation,
  { signal, stopwatch }: { readonly signal: AbortSignal; readonly stopwatch: Stopwatch },
): Promise<number | undefined> {
  const route = routes.find(({ provider: { kind } }) => 'protocol' in kind && kind.tokenCount !== undefined)
  if (route === undefined) return undefined
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  stopwatch.start()
  return count(route, generation, deadline)
    .catch(() => undefined)
    .finally(() => stopwatch.stop())
}

async function count(
  { provider, model }: ModelRoute,
  generation: Generation,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { kind } = provider
  if (!('protocol' in kind) || kind.tokenCount === undefined) return undefined
  const { path, body } = kind.tokenCount
  const rendered = kind.protocol.render(
    withoutAttribution(generation, { model }),
    { model, stream: false },
    () => {},
  )
  const response = await fetch(provider.baseUrl + path, {
    method: 'POST',
    headers: { ...sourceHeaders(generation, kind), ...upstreamHeaders(provider, kind, false) },
    body: JSON.stringify(body(rendered)),
    // A redirect would send the key to a host that is not configured.
    redirect: 'manual',
    signal,
  })
  const tokens = numberOf(fieldsOf(parseJson(await readText(response, maxReplyBytes))).input_tokens)
  return response.ok && tokens !== undefined && tokens >= 0 ? Math.trunc(tokens) : undefined
}

import { createHmac } from 'node:crypto'
import type { WebhookSettings } from '../../config/webhook-settings.ts'
import { timeSortedId } from '../../lib/id.ts'
import { pinnedFetch, RejectedUrl } from '../../lib/pinned-fetch.ts'
import { loggable } from '../../lib/text.ts'
import type { WebhookEvent } from '../../storage/ports/webhooks.ts'

/** The result of one attempt: `status` is null where the endpoint did not reply, `error` null where it accepted the event. */
export type Attempt = { readonly status: number | null; readonly error: string | null }

const timeoutMs = 15_000

/**
 * Sends an event to an endpoint once, signed according to Standard Webhooks. Any status of 200 to 299 is a success; a redirect
 * is not followed. Rejects only if the signal is aborted.
 */
export async function sendEvent(
  endpoint: WebhookSettings,
  event: WebhookEvent,
  signal: AbortSignal,
): Promise<Attempt> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    return await attempt(endpoint, event, AbortSignal.any([signal, deadline]))
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (deadline.aborted)
      return { status: null, error: `The endpoint did not respond within ${timeoutMs / 1000} s.` }
    return { status: null, error: reasonOf(error) }
  }
}

/** Sends `webhook.test` to an endpoint, which may have any `events`; it is not stored and not retried. */
export function sendTestEvent(endpoint: WebhookSettings): Promise<Attempt> {
  const data = JSON.stringify({ endpoint: endpoint.name })
  const event = { id: timeSortedId('evt_'), type: 'webhook.test', createdAt: Date.now(), data } as const
  return sendEvent(endpoint, event, new AbortController().signal)
}

async function attempt(
  endpoint: WebhookSettings,
  event: WebhookEvent,
  signal: AbortSignal,
): Promise<Attempt> {
  const body = renderEvent(event)
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signedHeaders(endpoint, event.id, body) },
    body,
    host: 'host of the endpoint',
    allowPrivate: endpoint.allow_private === true,
  } as const
  const response = await pinnedFetch(new URL(endpoint.url), request, signal)
  const { status } = response
  if (response.ok) {
    await response.body?.cancel()
    return { status, error: null }
  }
  const excerpt = loggable(withoutPath((await readExcerpt(response)).trim(), new URL(endpoint.url)))
  return { status, error: `The endpoint responded with status ${status}${excerpt ? `: ${excerpt}` : '.'}` }
}

/** The body of an event, in the form of OpenAI's. */
export function renderEvent({ id, type, createdAt, data }: WebhookEvent): string {
  const head = { id, object: 'event', created_at: Math.floor(createdAt / 1000), type }
  return JSON.stringify({ ...head, data: JSON.parse(data) as unknown })
}

/** The time is that of the attempt: receivers reject events that were signed minutes ago. */
function signedHeaders({ secret, previous_secret }: WebhookSettings, id: string, body: string) {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signatures = [secret, previous_secret].flatMap((text) => {
    if (text === undefined) return []
    const key = Buffer.from(text.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** In bytes. */
const maxExcerpt = 300

/** Reads the beginning of the reply, which says why the endpoint rejects the event; leaving the loop cancels the rest. */
async function readExcerpt({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk.subarray(0, maxExcerpt))
    length += chunk.byteLength
    if (length >= maxExcerpt) break
  }
  return Buffer.concat(chunks).subarray(0, maxExcerpt).toString()
}

/** Servers repeat the path of a request in their errors, which may be the secret of an endpoint. */
function withoutPath(text: string, { pathname, search }: URL): string {
  const segments = pathname.split('/').filter((segment) => segment.length >= 8)
  return [pathname, search, ...segments]
    .filter((part) => part.length > 1)
    .reduce((rest, part) => rest.replaceAll(part, '…'), text)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof RejectedUrl)) return 'The connection to the endpoint was lost.'
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}${code}.`
}

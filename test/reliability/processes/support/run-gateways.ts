import type { SettingsFile } from '../../../../src/config/settings.ts'
import type { Requester } from '../../../support/app.ts'
import { firstChunks } from '../../../support/background.ts'
import { chunks } from '../../../support/chat-fixtures.ts'
import { hang, type Script } from '../../../support/script.ts'
import type { Upstream } from '../../../support/upstream.ts'
import { prepareGateways, shortTiming, type Timing } from './processes.ts'
import type { SharedDatabase } from './shared-database.ts'

const limits = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 }

/** Gateways on one database that execute background runs, of which each executes one at a time. */
export function prepareRunGateways(
  database: SharedDatabase,
  script: Script,
  background: SettingsFile['background'] = { concurrency: 1 },
  timing: Timing = shortTiming,
) {
  return prepareGateways(database, script, { background, limits }, timing)
}

/** Begins a reply, and keeps the connection open. */
export const endlessReply = chunks(firstChunks, hang)

/** How often each input has reached the provider, by its text. */
export function countInputs({ requests }: Upstream): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { body } of requests) {
    const { messages } = body as { readonly messages: readonly { readonly content: string }[] }
    const input = messages.at(-1)?.content ?? ''
    counts.set(input, (counts.get(input) ?? 0) + 1)
  }
  return counts
}

/** A gateway in another process, as far as the helpers of this process use it. */
export function appAt(url: string, key: string): Requester {
  return {
    request: (path, { method, headers, body, signal } = {}) =>
      fetch(url + path, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...headers,
        } as Record<string, string>,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        keepalive: false,
      }),
  }
}

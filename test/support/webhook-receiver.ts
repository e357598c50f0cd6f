import { Webhook } from 'standardwebhooks'
import type { WebhookSettings } from '../../src/config/webhook-settings.ts'

/** An event that an endpoint has received and verified. */
export type ReceivedEvent = {
  readonly id: string
  readonly type: string
  readonly object: string
  readonly created_at: number
  readonly data: Readonly<Record<string, unknown>>
}

/** A request as it arrived. */
export type ReceivedWebhook = {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Verified by the package of Standard Webhooks. */
  readonly event: ReceivedEvent
}

export type WebhookReceiver = {
  /** Its entry in the settings. */
  readonly settings: WebhookSettings
  readonly received: readonly ReceivedWebhook[]
  /** Resolves with the first `count` requests that satisfy the condition. */
  waitFor(count: number, matches?: (webhook: ReceivedWebhook) => boolean): Promise<readonly ReceivedWebhook[]>
  [Symbol.asyncDispose](): Promise<void>
}

export const webhookSecret = `whsec_${Buffer.from('a-secret-for-tests-of-webhooks').toString('base64')}`

type Reply = () => Response | Promise<Response>

const accepted: Reply = () => new Response(null, { status: 204 })

/**
 * Starts an endpoint on loopback. It replies to each request with the next of these, and to further ones as it should. A
 * request whose signature is wrong ends the wait for it.
 */
export function startReceiver(
  replies: readonly Reply[] = [],
  settings: Partial<WebhookSettings> = {},
): WebhookReceiver {
  const received: ReceivedWebhook[] = []
  const waiting = new Set<() => void>()
  let failure: unknown
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      const headers = Object.fromEntries(request.headers)
      const reply = replies[received.length] ?? accepted
      try {
        received.push({
          body,
          headers,
          event: new Webhook(webhookSecret).verify(body, headers) as ReceivedEvent,
        })
      } catch (error) {
        failure = error
      }
      for (const check of waiting) check()
      return reply()
    },
  })
  const waitFor: WebhookReceiver['waitFor'] = (count, matches = () => true) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = received.filter(matches)
        if (failure === undefined && found.length < count) return
        waiting.delete(check)
        if (failure === undefined) resolve(found.slice(0, count))
        else reject(failure)
      }
      waiting.add(check)
      check()
    })
  return {
    settings: {
      name: 'alerts',
      url: `http://127.0.0.1:${server.port}/hooks/token-of-the-url`,
      secret: webhookSecret,
      allow_private: true,
      ...settings,
    },
    received,
    waitFor,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

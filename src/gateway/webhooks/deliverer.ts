import type { WebhookSettings } from '../../config/webhook-settings.ts'
import { logFirstFailure } from '../../lib/first-failure.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { repeatEvery, settleWithin } from '../../lib/time.ts'
import type { ClaimedDelivery, DeliveryResult, WebhookQueue } from '../../storage/ports/webhooks.ts'
import { filterOf } from './endpoints.ts'
import { type Attempt, sendEvent } from './send-event.ts'

type DelivererOptions = {
  readonly webhooks: WebhookQueue
  /** The endpoints of the current settings. */
  readonly endpoints: () => readonly WebhookSettings[]
  /** Called first in each round: what has to be found out before there are events. */
  readonly check?: () => Promise<void>
  readonly intervalMs?: number | undefined
  readonly log: Log
}

/** Events that one process sends to one endpoint at the same time. */
const maxConcurrent = 8
/** Deliveries of one endpoint that wait; further events are not sent to it. */
const maxPending = 10_000
/** After this time another process may attempt a delivery once more: longer than an attempt takes. */
const leaseMs = 20_000
/** How long a process that stops waits for its attempts. */
const stopTimeoutMs = 3000

const [second, minute, hour] = [1000, 60_000, 3_600_000]

/** The delays after each failed attempt; together a day. */
const backOff = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  6 * hour,
  10 * hour,
]

/** The delay after this attempt has failed, in milliseconds; undefined if it was the last one. */
export function delayAfter(attempt: number, random: () => number = Math.random): number | undefined {
  const delay = backOff[attempt - 1]
  // The events of an outage do not all return at the same moment.
  return delay === undefined ? undefined : delay * (0.9 + random() * 0.2)
}

/** Delivers the events of the outbox to the endpoints, together with the other processes of the database. */
export function startDeliverer(options: DelivererOptions): { stop(): Promise<void> } {
  const deliverer = new Deliverer(options)
  const reading = logFirstFailure(options.log, 'Webhook events could not be read and will be retried.')
  const round = () => reading.during(() => deliverer.round())
  const repeating = repeatEvery(options.intervalMs ?? 1000, round, reading.failed)
  return {
    async stop() {
      repeating.stop()
      await deliverer.stop()
    },
  }
}

class Deliverer {
  readonly #options: DelivererOptions
  readonly #aborted = new AbortController()
  #stopped = false
  #round: Promise<void> = Promise.resolve()
  /** The endpoints that this process sends to at the moment. */
  readonly #sending = new Map<string, Promise<void>>()
  readonly #failing = new Set<string>()
  /** Endpoints that have replied with 410; those of other settings are tried again. */
  readonly #gone = new Set<WebhookSettings>()

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  /** Routes new events, and starts to send those that are due. */
  round(): Promise<void> {
    this.#round = this.#routeAndSend()
    return this.#round
  }

  async #routeAndSend(): Promise<void> {
    const { webhooks, endpoints, check } = this.#options
    const configured = endpoints()
    if (configured.length === 0 || this.#stopped) return
    await check?.()
    const active = configured.filter((endpoint) => !this.#gone.has(endpoint))
    const names = active.map(({ name }) => name)
    let found = await webhooks.due(names)
    if (found.unrouted) {
      await this.#routeAll(configured)
      found = await webhooks.due(names)
    }
    const due = new Set(found.endpoints)
    for (const endpoint of active)
      if (due.has(endpoint.name) && !this.#sending.has(endpoint.name) && !this.#stopped)
        this.#startSending(endpoint)
  }

  /** Also to endpoints that are gone: what happens meanwhile is sent after the reload. */
  async #routeAll(configured: readonly WebhookSettings[]): Promise<void> {
    const { webhooks, log } = this.#options
    const filters = configured.map(filterOf)
    for (let more = true; more && !this.#stopped;) {
      const { events, omitted } = await webhooks.route(filters, maxPending)
      if (omitted > 0)
        log.error('Webhook events were dropped, because too many wait for their endpoint.', {
          events: omitted,
        })
      more = events > 0
    }
  }

  /** A slow endpoint does not delay the others. */
  #startSending(endpoint: WebhookSettings): void {
    const { name } = endpoint
    const sending = this.#sendAll(endpoint).finally(() => this.#sending.delete(name))
    this.#sending.set(name, sending)
  }

  /** Sends what is due for an endpoint; never rejects. */
  async #sendAll(endpoint: WebhookSettings): Promise<void> {
    const { webhooks, endpoints, log } = this.#options
    // After a reload, the next round sends to the endpoint of the new settings.
    const isActive = () => !this.#stopped && !this.#gone.has(endpoint) && endpoints().includes(endpoint)
    try {
      while (isActive()) {
        const claimed = await webhooks.claim(filterOf(endpoint), maxConcurrent, leaseMs)
        if (claimed.length === 0) return
        // All of them end before others are claimed, even if the result of one cannot be recorded.
        const ends = await Promise.allSettled(claimed.map((delivery) => this.#deliver(endpoint, delivery)))
        for (const end of ends) if (end.status === 'rejected') throw end.reason
      }
    } catch (error) {
      log.warn('Webhook events could not be delivered and will be retried.', {
        endpoint: endpoint.name,
        cause: causeOf(error),
      })
    }
  }

  async #deliver(endpoint: WebhookSettings, { event, attempt }: ClaimedDelivery): Promise<void> {
    const { webhooks, log } = this.#options
    const key = { event: event.id, endpoint: endpoint.name }
    const sent = await sendEvent(endpoint, event, this.#aborted.signal).catch(() => undefined)
    // This process stops: another one attempts it at once.
    if (sent === undefined) return await webhooks.record(key, attempt, { ...interrupted, nextAt: Date.now() })
    const result = toResult(sent, attempt)
    await webhooks.record(key, attempt, result)
    const fields = { endpoint: endpoint.name, event: event.id, type: event.type, cause: sent.error }
    if (result.status === 'dead') log.error('A webhook event could not be delivered.', fields)
    if (sent.status === 410) await this.#disable(endpoint)
    this.#notice(endpoint, fields)
  }

  /** Says once that an endpoint fails, and once that it does not any more. */
  #notice(
    { name }: WebhookSettings,
    fields: { readonly endpoint: string; readonly cause: string | null },
  ): void {
    const { log } = this.#options
    if (fields.cause === null) {
      if (this.#failing.delete(name)) log.info('A webhook endpoint accepts events again.', { endpoint: name })
    } else if (!this.#failing.has(name)) {
      this.#failing.add(name)
      log.warn('A webhook endpoint has rejected an event, which will be retried.', fields)
    }
  }

  async #disable(endpoint: WebhookSettings): Promise<void> {
    if (this.#gone.has(endpoint)) return
    this.#gone.add(endpoint)
    await this.#options.webhooks.abandon(
      endpoint.name,
      'The endpoint was disabled by its response with status 410.',
    )
    this.#options.log.error(
      'A webhook endpoint is gone: no events are sent to it until the settings are reloaded.',
      {
        endpoint: endpoint.name,
      },
    )
  }

  /** Lets the attempts end, for a moment. */
  async stop(): Promise<void> {
    this.#stopped = true
    const ended = this.#round.catch(() => {}).then(() => Promise.all(this.#sending.values()))
    await settleWithin(ended, stopTimeoutMs)
    this.#aborted.abort()
    await settleWithin(Promise.all(this.#sending.values()), stopTimeoutMs)
  }
}

const interrupted = { status: 'pending', responseStatus: null, error: 'The gateway was stopped.' } as const

function toResult({ status: responseStatus, error }: Attempt, attempt: number): DeliveryResult {
  const now = Date.now()
  if (error === null) return { status: 'delivered', nextAt: now, responseStatus, error }
  const delay = responseStatus === 410 ? undefined : delayAfter(attempt)
  return delay === undefined
    ? { status: 'dead', nextAt: now, responseStatus, error }
    : { status: 'pending', nextAt: Math.round(now + delay), responseStatus, error }
}

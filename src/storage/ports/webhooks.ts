import type { WebhookEventType } from '../../domain/accounting/webhook-event.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { ListedPage, PageQuery } from './listed-pages.ts'

/** Which events transactions on money and responses write, none without an endpoint. */
export type AlertRules = {
  /** The shares of a budget, in percent. */
  readonly budgetThresholds: readonly number[]
  /** The balance of a prepaid organization at or below which it is low. */
  readonly lowBalance?: Nanos | undefined
  /** Whether the ends of background runs are events. */
  readonly responses: boolean
  /** Whether keys that expire soon are events. */
  readonly keys: boolean
}

/** Without endpoints. */
export const noAlerts: AlertRules = {
  budgetThresholds: [],
  lowBalance: undefined,
  responses: false,
  keys: false,
}

/** The current rules. */
export type CurrentAlerts = () => AlertRules

/** `dead`: it was attempted for a day, or its endpoint is gone. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead'

/** An event as endpoints receive it. */
export type WebhookEvent = {
  readonly id: string
  readonly type: WebhookEventType | 'webhook.test'
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** JSON. */
  readonly data: string
}

/** The name of an endpoint, and which events it receives. */
export type EndpointFilter = {
  readonly name: string
  readonly events: ReadonlySet<string>
  /** The name or the id of the only organization whose events it receives. */
  readonly organization?: string | undefined
}

/** A delivery, by its event and its endpoint. */
export type DeliveryKey = { readonly event: string; readonly endpoint: string }

/** A delivery that this process is to attempt. */
export type ClaimedDelivery = { readonly event: WebhookEvent; readonly attempt: number }

/** The result of an attempt. */
export type DeliveryResult = {
  readonly status: DeliveryStatus
  /** When it is attempted again, if it is pending. */
  readonly nextAt: number
  readonly responseStatus: number | null
  readonly error: string | null
}

/** A delivery, for the operator. Times are milliseconds since 1970. */
export type DeliveryRecord = DeliveryKey & {
  readonly type: string
  readonly organization: string | null
  readonly data: string
  readonly createdAt: number
  readonly status: DeliveryStatus
  readonly attempts: number
  /** Null unless it is pending. */
  readonly nextAt: number | null
  readonly attemptedAt: number | null
  readonly responseStatus: number | null
  readonly error: string | null
}

export type DeliveryQuery = PageQuery & {
  readonly status?: DeliveryStatus | undefined
  readonly endpoint?: string | undefined
}

/** How many deliveries of an endpoint are pending, and how many are dead. */
export type DeliveryCounts = { readonly pending: number; readonly dead: number }

/** The events for webhooks, and their deliveries to the endpoints of the settings. */
export type WebhookQueue = {
  /** Whether there are events without deliveries, and which of the endpoints have deliveries that are due. */
  due(
    endpoints: readonly string[],
  ): Promise<{ readonly unrouted: boolean; readonly endpoints: readonly string[] }>
  /**
   * Creates the deliveries of some new events to the endpoints that want them, as long as an endpoint has fewer than
   * `maxPending`. Resolves with the number of events, and of omitted deliveries.
   */
  route(
    endpoints: readonly EndpointFilter[],
    maxPending: number,
  ): Promise<{ readonly events: number; readonly omitted: number }>
  /**
   * Takes deliveries of an endpoint that are due; they are due again after `leaseMs`. Those of events that its settings no
   * longer want are dead.
   */
  claim(endpoint: EndpointFilter, limit: number, leaseMs: number): Promise<readonly ClaimedDelivery[]>
  /** Records the result of the attempt with this number; that of a later one is not overwritten by a failure. */
  record(key: DeliveryKey, attempt: number, result: DeliveryResult): Promise<void>
  /** Marks the pending deliveries of an endpoint as dead. */
  abandon(endpoint: string, error: string): Promise<void>
  /** Lists deliveries, the newest event first by default. A cursor is `event:endpoint`. */
  list(query: DeliveryQuery): Promise<ListedPage<DeliveryRecord>>
  counts(): Promise<ReadonlyMap<string, DeliveryCounts>>
  /** Writes `key.expiring` for some keys that expire soon, and resolves with their number: 0 if none are left. */
  reportExpiringKeys(): Promise<number>
  /** Deletes some old events and deliveries, and resolves with their number: 0 if none are left. */
  expire(): Promise<number>
  /** Writes `provider.down`, unless the provider was down already. */
  providerDown(provider: string, data: string): Promise<void>
  /** Writes `provider.up`, unless the provider was not down any more. */
  providerUp(provider: string, data: (since: number) => string): Promise<void>
  /** When the providers went down that are down. */
  outages(): Promise<ReadonlyMap<string, number>>
}

/** The webhooks, and what one actor does with their deliveries. */
export type Webhooks = WebhookQueue & {
  /** Delivers once more, also what was delivered; resolves with the record, or undefined if there is none. */
  retry(key: DeliveryKey): Promise<DeliveryRecord | undefined>
  /** Delivers the newest dead ones once more, at most `maxRetried`, of one endpoint or of all; resolves with their number. */
  retryDead(endpoint?: string): Promise<number>
}

/** The dead deliveries that one call retries. */
export const maxRetried = 1000

/** The id of a delivery in the API and on the command line. */
export function printDeliveryId({ event, endpoint }: DeliveryKey): string {
  return `${event}:${endpoint}`
}

/** Undefined for a text that is no id of a delivery. */
export function parseDeliveryId(id: string): DeliveryKey | undefined {
  const [, event, endpoint] = /^(evt_[0-9a-z]+):([a-z0-9_-]+)$/.exec(id) ?? []
  return event === undefined || endpoint === undefined ? undefined : { event, endpoint }
}

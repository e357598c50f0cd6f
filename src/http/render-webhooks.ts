import type { WebhookSettings } from '../config/webhook-settings.ts'
import { filterOf, originOf } from '../gateway/webhooks/endpoints.ts'
import { type DeliveryCounts, type DeliveryRecord, printDeliveryId } from '../storage/ports/webhooks.ts'
import { isoTimeOrNull } from '../lib/time.ts'

/** Renders an endpoint for the operator, without its secret and the path of its URL, which may be one. */
export function renderEndpoint(endpoint: WebhookSettings, counts: ReadonlyMap<string, DeliveryCounts>) {
  const { name, organization = null, allow_private = false } = endpoint
  const { pending, dead } = counts.get(name) ?? { pending: 0, dead: 0 }
  const events = [...filterOf(endpoint).events]
  const fields = { id: name, origin: originOf(endpoint), events, organization, allow_private }
  return { object: 'webhook_endpoint', ...fields, pending, dead }
}

/** Renders a delivery for the operator, with the data of its event. */
export function renderDelivery(delivery: DeliveryRecord) {
  const { event, endpoint, type, status, attempts, responseStatus, error } = delivery
  return {
    object: 'webhook_delivery',
    id: printDeliveryId(delivery),
    event,
    endpoint,
    type,
    created_at: new Date(delivery.createdAt).toISOString(),
    status,
    attempts,
    attempted_at: isoTimeOrNull(delivery.attemptedAt),
    next_attempt_at: isoTimeOrNull(delivery.nextAt),
    response_status: responseStatus,
    error,
    data: JSON.parse(delivery.data) as unknown,
  }
}

import { Type } from 'typebox'
import { webhookEventTypes } from '../../domain/accounting/webhook-event.ts'
import type { Fields } from '../../lib/json/json.ts'
import { count, FreeObject, objectType, stringEnum, text, textOrNull } from '../schema.ts'

/** The states of a delivery. */
export const deliveryStates = ['pending', 'delivered', 'dead'] as const

/** An endpoint of the settings, with the number of its deliveries. */
export const WebhookEndpointObject = Type.Object(
  {
    object: objectType('webhook_endpoint'),
    id: text('The name of the endpoint in the settings.'),
    origin: text('The beginning of its URL; the rest may be secret.'),
    events: Type.Array(stringEnum(webhookEventTypes), { description: 'The events that it receives.' }),
    organization: textOrNull('The only organization whose events it receives; null for all.'),
    allow_private: Type.Boolean({ description: 'Whether its address may be one that is not public.' }),
    pending: count('The deliveries that wait for their first or next attempt.'),
    dead: count('The deliveries that are no longer attempted.'),
  },
  { title: 'WebhookEndpoint' },
)

/** A delivery of an event to an endpoint. */
export const WebhookDeliveryObject = Type.Object(
  {
    object: objectType('webhook_delivery'),
    id: text('The ID of the delivery: that of its event, and the name of its endpoint.'),
    event: text('The ID of the event, which is the `webhook-id` of every attempt.'),
    endpoint: text('The name of the endpoint.'),
    type: text('The type of the event.'),
    created_at: text('When the event happened, in ISO 8601.'),
    status: stringEnum(deliveryStates, {
      description:
        'Whether it waits for an attempt, was accepted by the endpoint, or is no longer attempted.',
    }),
    attempts: count('The number of attempts.'),
    attempted_at: textOrNull('When it was attempted last, in ISO 8601.'),
    next_attempt_at: textOrNull('When it is attempted next, in ISO 8601; null unless it is pending.'),
    response_status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The status with which the endpoint replied last; null if it did not.',
    }),
    error: textOrNull('Why the last attempt failed.'),
    data: Type.Unsafe<Fields>({ ...FreeObject, description: 'The data of the event.' }),
  },
  { title: 'WebhookDelivery' },
)

import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { WebhookEventType } from '../../domain/accounting/webhook-event.ts'
import type { DeliveryStatus } from '../ports/webhooks.ts'

/** Events for webhooks, each written in the transaction that causes it. */
export const webhook_events = sqliteTable(
  'webhook_events',
  {
    /** `evt_` and a time-sorted id; the `webhook-id` of all attempts. */
    id: text().primaryKey(),
    /** Null for an event that concerns no organization, such as that of a provider. */
    organization_id: text(),
    type: text().$type<WebhookEventType | 'webhook.test'>().notNull(),
    created_at: integer().notNull(),
    /** The `data` of the event as JSON; before it is routed, what the transaction knew. */
    data: text().notNull(),
    /** Whether it has its deliveries. */
    routed: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    index('webhook_events_to_route')
      .on(table.id)
      .where(sql`not ${table.routed}`),
    index('webhook_events_of_organization')
      .on(table.organization_id)
      .where(sql`${table.organization_id} is not null`),
  ],
)

/** One event for one endpoint of the settings. */
export const webhook_deliveries = sqliteTable(
  'webhook_deliveries',
  {
    event_id: text()
      .notNull()
      .references(() => webhook_events.id, { onDelete: 'cascade' }),
    /** The name of the endpoint. */
    endpoint: text().notNull(),
    status: text().$type<DeliveryStatus>().notNull().default('pending'),
    attempts: integer().notNull().default(0),
    /** When it is due. A process that attempts it moves this on: so it is due again if the process dies. */
    next_at: integer().notNull(),
    /** When it was attempted last. */
    attempted_at: integer(),
    /** The status with which the endpoint replied last; null if it did not. */
    response_status: integer(),
    /** Why the last attempt failed. */
    error: text(),
  },
  (table) => [
    primaryKey({ columns: [table.event_id, table.endpoint] }),
    index('webhook_deliveries_due')
      .on(table.endpoint, table.next_at)
      .where(sql`${table.status} = 'pending'`),
    index('webhook_deliveries_by_status').on(table.status, table.event_id),
  ],
)

/** The providers of which `provider.down` was sent, and `provider.up` was not. */
export const provider_outages = sqliteTable('provider_outages', {
  provider: text().primaryKey(),
  since: integer().notNull(),
})

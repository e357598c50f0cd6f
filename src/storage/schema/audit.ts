import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ActorType, AuditEvent, AuditResource, ChangeSource } from '../ports/audit.ts'

/**
 * Every change of what operators manage, written in the transaction of the change. Names are copied and nothing is referred
 * to, so that an entry outlives its actor, its resource and its organization.
 */
export const audit_entries = sqliteTable(
  'audit_entries',
  {
    /** `audit_log-` and a time-sorted id. */
    id: text().primaryKey(),
    /** The time of its id. */
    created_at: integer().notNull(),
    event: text().$type<AuditEvent>().notNull(),
    actor_type: text().$type<ActorType>().notNull(),
    actor_id: text(),
    actor_name: text(),
    source: text().$type<ChangeSource>().notNull(),
    address: text(),
    forwarded_for: text(),
    resource_type: text().$type<AuditResource['type']>().notNull(),
    resource_id: text(),
    resource_name: text(),
    organization_id: text(),
    organization_name: text(),
    project_id: text(),
    /** The changed fields as JSON. */
    before: text(),
    after: text(),
  },
  (table) => [
    index('audit_entries_of_organization').on(table.organization_id, table.id),
    index('audit_entries_of_organization_event').on(table.organization_id, table.event, table.id),
    index('audit_entries_of_event').on(table.event, table.id),
    index('audit_entries_of_actor').on(table.actor_id, table.id),
    index('audit_entries_of_actor_name').on(table.actor_name, table.id),
    index('audit_entries_of_project').on(table.project_id, table.id),
    index('audit_entries_of_resource').on(table.resource_id, table.id),
    index('audit_entries_of_resource_name').on(table.resource_name, table.id),
  ],
)

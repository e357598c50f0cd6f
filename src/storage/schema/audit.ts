import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ActorType, AuditEvent, AuditObject, ChangeSource } from '../ports/audit.ts'

/**
 * Every change of what operators manage, written in the transaction of the change. Names are copied and nothing is referred
 * to, so that an entry outlives its actor, its object and its organization.
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
    object_type: text().$type<AuditObject['type']>().notNull(),
    object_id: text(),
    object_name: text(),
    organization_id: text(),
    organization_name: text(),
    project_id: text(),
    /** The changed fields as JSON. */
    before: text(),
    after: text(),
  },
  (table) => [
    index('audit_entries_of_organization').on(table.organization_id, table.id),
    index('audit_entries_of_object').on(table.object_id, table.id),
    index('audit_entries_of_object_name').on(table.object_name, table.id),
  ],
)

import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { CopiedColumn, CopiedTable } from '../ports/copy.ts'
import { audit_entries } from '../schema/audit.ts'
import {
  admin_keys,
  api_keys,
  budgets,
  ledger,
  organizations,
  projects,
  reservations,
} from '../schema/organizations.ts'
import * as postgres from '../schema/postgres.ts'
import { completions, provider_state, response_log, responses, runs } from '../schema/stored.ts'
import { content_log, usage } from '../schema/usage.ts'
import { webhook_deliveries, webhook_events } from '../schema/webhooks.ts'

/** Every table with data, those first that others refer to; `copied-columns.test.ts` lists the tables that are not copied. */
export const copiedTables: readonly CopiedTable[] = [
  copied(organizations, postgres.organizations, ['id']),
  copied(projects, postgres.projects, ['id']),
  copied(api_keys, postgres.api_keys, 'creation'),
  copied(admin_keys, postgres.admin_keys, ['public_id']),
  copied(provider_state, postgres.provider_state, ['organization_id', 'call_id']),
  copied(budgets, postgres.budgets, ['owner_id', 'start']),
  copied(reservations, postgres.reservations, ['request_id']),
  copied(ledger, postgres.ledger, ['organization_id', 'id']),
  copied(usage, postgres.usage, ['created_at', 'id']),
  copied(content_log, postgres.content_log, ['created_at', 'request_id']),
  copied(completions, postgres.completions, ['sequence', 'id']),
  copied(responses, postgres.responses, ['id']),
  copied(response_log, postgres.response_log, ['response_id', 'position']),
  copied(runs, postgres.runs, ['response_id']),
  copied(webhook_events, postgres.webhook_events, ['id']),
  copied(webhook_deliveries, postgres.webhook_deliveries, ['event_id', 'endpoint']),
  copied(audit_entries, postgres.audit_entries, ['id']),
]

function copied(inSqlite: Table, inPostgres: Table, key: CopiedTable['key']): CopiedTable {
  const types = getTableColumns(inPostgres)
  const columns = Object.values(getTableColumns(inSqlite)).map(({ name }): CopiedColumn => {
    const postgresType = types[name]?.getSQLType() ?? ''
    return { name, type: typeOf(postgresType), postgresType }
  })
  return { name: getTableName(inSqlite), columns, key }
}

function typeOf(postgresType: string): CopiedColumn['type'] {
  switch (postgresType) {
    case 'text':
      return 'text'
    case 'bigint':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'bytea':
      return 'bytes'
    default:
      throw new Error(`weir copy does not know the type “${postgresType}” of PostgreSQL.`)
  }
}

import { expect, onTestFinished, test } from 'bun:test'
import type { AuditQuery } from '../../../src/storage/ports/audit.ts'
import * as postgresScripts from '../../../src/storage/postgres/run-script.ts'
import { createAuditLog } from '../../../src/storage/scripts/audit.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { createMigratedDatabase } from '../../support/postgres/migrated-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { recordPlans } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'

/** Each filter, with the indexes of its columns and what they find. */
const filters: readonly (readonly [Partial<AuditQuery>, Readonly<Record<string, string>>])[] = [
  [{ organizationId: 'o' }, { organization: 'organization_id=?' }],
  [{ events: ['api_key.created', 'budget.released'] }, { event: 'event=?' }],
  [
    { events: ['api_key.created'], organizationId: 'o' },
    { organization_event: 'organization_id=? AND event=?' },
  ],
  [{ actors: ['none', 'nobody'] }, { actor: 'actor_id=?', actor_name: 'actor_name=?' }],
  [
    { actors: ['none'], organizationId: 'o', actorType: 'api_key', events: ['api_key.created'] },
    { actor: 'actor_id=?', actor_name: 'actor_name=?' },
  ],
  [{ projects: ['none'], organizationId: 'o', events: ['api_key.created'] }, { project: 'project_id=?' }],
  [
    { resources: ['none'], organizationId: 'o', projects: ['p'] },
    { resource: 'resource_id=?', resource_name: 'resource_name=?' },
  ],
]

const pages = (['asc', 'desc'] as const).flatMap((order) =>
  filters.map(([filter, indexes]) => ({ query: { ...filter, order, limit: 50 }, indexes })),
)

test.each(pages)('SQLite lists what filters select by their indexes: %j', async ({ query, indexes }) => {
  const { database, writer } = testStorage()
  const { recorded, plans } = recordPlans(database)
  await createAuditLog(createScriptRunner(recorded, writer)).page(query)
  expect(plans().size).toBeWithin(1, 3)
  for (const plan of plans().values()) {
    for (const [index, found] of Object.entries(indexes))
      expect(plan.replaceAll('COVERING ', '')).toContain(
        `audit_entries USING INDEX audit_entries_of_${index} (${found})`,
      )
    expect(plan).not.toContain('SCAN audit_entries')
    // Only the entries of the page itself may be sorted.
    expect(plan.split('TEMP B-TREE').length - 1).toBeLessThanOrEqual(1)
  }
})

test.skipIf(!hasPostgres)('PostgreSQL reads no other entries than those that filters select', async () => {
  const url = await createMigratedDatabase()
  onTestFinished(async () => (await sharedPostgres()).dropDatabase(url))
  await execute(
    url,
    `INSERT INTO audit_entries (id, created_at, event, actor_type, actor_id, actor_name, source, resource_type,
        resource_id, resource_name, organization_id, project_id)
      SELECT 'audit_log-' || lpad(to_hex(i), 32, '0'), i, 'api_key.updated', 'api_key', 'a', 'ada', 'api', 'api_key',
        'k', 'laptop', 'o', 'p' FROM generate_series(1, 20000) i`,
  )
  await execute(url, 'ANALYZE audit_entries')
  const plans: string[] = []
  const query = async <Row>(text: string, values: readonly unknown[] = []) => {
    const rows = await execute<{ 'QUERY PLAN': string }>(url, `EXPLAIN (ANALYZE) ${text}`, [...values])
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    return await execute<Row>(url, text, [...values])
  }
  const transact = () => Promise.reject(new Error('A list changes nothing.'))
  const audit = createAuditLog(postgresScripts.createScriptRunner({ query, transact }))
  for (const { query } of pages) {
    const { organizationId: _, order: __, limit, ...others } = query
    expect((await audit.page(query))?.items).toHaveLength(Object.keys(others).length > 0 ? 0 : limit)
  }
  expect(plans.length).toBeGreaterThanOrEqual(pages.length)
  for (const plan of plans) {
    expect(plan).toMatch(/Index (Only )?Scan/)
    expect(plan).not.toMatch(/Seq Scan|Rows Removed by/)
  }
})

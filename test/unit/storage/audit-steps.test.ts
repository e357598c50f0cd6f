import { expect, test } from 'bun:test'
import type { AuditQuery } from '../../../src/storage/ports/audit.ts'
import { createAuditLog } from '../../../src/storage/scripts/audit.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { testStorage } from './support/folder.ts'

const count = 10_000

/** Entries of which each third has been made by ada, and every 2,500th has created a key. */
function auditLog() {
  const { database, writer } = testStorage()
  database.sqlite.run(
    `INSERT INTO audit_entries (id, created_at, event, actor_type, actor_id, actor_name, source, resource_type, resource_id,
        resource_name)
      WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
      SELECT printf('audit_log-%032x', i), i, iif(i % 2500 = 0, 'api_key.created', 'api_key.updated'), 'api_key', 'a',
        iif(i % 3 = 0, 'ada', 'bob'), 'api', 'api_key', 'k', 'laptop' FROM numbers`,
  )
  const runner = createScriptRunner(database, writer)
  let [reads, turns] = [0, 0]
  const audit = createAuditLog({
    ...runner,
    read: (script) => {
      if (reads++ === 0)
        setImmediate(() => {
          turns += 1
          reads = 0
        })
      return runner.read(script)
    },
  })
  return { audit, turns: () => turns }
}

const numbersOf = (items: readonly { readonly id: string }[]) =>
  items.map(({ id }) => Number.parseInt(id.slice('audit_log-'.length), 16))

const cases: readonly (readonly [Partial<AuditQuery>, readonly number[]])[] = [
  [{ resources: ['k'], events: ['api_key.created'] }, [2500, 5000, 7500, 10_000]],
  [{ resources: ['k', 'laptop'], events: ['api_key.created'] }, [2500, 5000, 7500, 10_000]],
  [{ resources: ['k'], events: ['api_key.created'], actors: ['ada'] }, [7500]],
  [{ actors: ['a', 'ada'], organizationId: 'o' }, []],
]

test.each(cases)(
  'a page with filters that few entries match is read in steps: %j',
  async (filters, found) => {
    for (const order of ['asc', 'desc'] as const) {
      const { audit, turns } = auditLog()
      const page = await audit.page({ ...filters, order, limit: 50 })
      expect(numbersOf(page?.items ?? [])).toEqual(order === 'asc' ? [...found] : found.toReversed())
      expect(page?.hasMore).toBe(false)
      // Each step compares 4,000 entries.
      expect(turns()).toBeGreaterThan(count / 4000)
    }
  },
)

test('pages that are read in steps continue each other', async () => {
  const { audit } = auditLog()
  for (const order of ['asc', 'desc'] as const) {
    const query = { resources: ['k'], events: ['api_key.created'], order, limit: 3 } as const
    const first = await audit.page(query)
    expect([first?.items.length, first?.hasMore]).toEqual([3, true])
    const next = await audit.page({ ...query, after: first?.items.at(-1)?.id })
    expect([next?.items.length, next?.hasMore]).toEqual([1, false])
  }
})

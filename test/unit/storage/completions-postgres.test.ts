import { expect, onTestFinished, test } from 'bun:test'
import { termsOf } from '../../../src/storage/common/completion-terms.ts'
import type { CompletionQuery } from '../../../src/storage/ports/completions.ts'
import { completionSearch } from '../../../src/storage/postgres/completion-search.ts'
import { createCompletions } from '../../../src/storage/scripts/completions.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { countRows } from './support/count-rows.ts'

const rows = 20_000
const termOf = (key: string, value: string) => termsOf('org', 'm', { [key]: value }).split(' ')[1]

/** Completions of which half are even, half are odd, one in ten is tenth, and three are rare; none is even and odd. */
async function filledDatabase() {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const database = await openTestDatabase(url)
  onTestFinished(async () => {
    await database.close()
    await server.dropDatabase(url)
  })
  const { query } = database
  const term = (condition: string, key: string, value: string) =>
    `CASE WHEN ${condition} THEN '${termOf(key, value)}'::uuid END`
  const terms = [
    term('i % 2 = 0', 'even', 'yes'),
    term('i % 2 = 1', 'odd', 'yes'),
    term('i % 10 = 0', 'tenth', 'yes'),
    term('i IN (5000, 9000, 19000)', 'rare', 'yes'),
  ]
  await query(`INSERT INTO completions (id, sequence, organization_id, model, metadata, terms, completion, messages)
    SELECT 'c' || i, i, 'org', 'm', '{}', array_remove(ARRAY[${terms.join()}], NULL), '{}', '[]'
    FROM generate_series(1, ${rows}) i`)
  await query('ANALYZE completions')
  return database
}

const page = (...keys: string[]): CompletionQuery => ({
  organization: 'org',
  metadata: keys.map((key) => [key, 'yes']),
  order: 'asc',
  limit: 20,
})

test.skipIf(!hasPostgres)(
  'filters on metadata in PostgreSQL read few rows, however many completions there are',
  async () => {
    const database = await filledDatabase()
    const list = async (request: CompletionQuery) => {
      const { counting, read } = countRows(database.query)
      const { completions, hasMore } = await createCompletions(
        createScriptRunner({ ...database, query: counting }),
        completionSearch,
      ).list(request)
      return { ids: completions.map(({ id }) => id), hasMore, read: read() }
    }
    const apart = await list(page('even', 'odd'))
    expect([apart.ids, apart.hasMore]).toEqual([[], false])
    expect(apart.read).toBeLessThan(5000)
    const often = await list(page('even', 'tenth'))
    expect([often.ids.length, often.ids[0], often.ids[19], often.hasMore]).toEqual([20, 'c10', 'c200', true])
    expect(often.read).toBeLessThan(5000)
    const rare = await list({ ...page('rare', 'even'), order: 'desc' })
    expect([rare.ids, rare.hasMore]).toEqual([['c19000', 'c9000', 'c5000'], false])
    expect(rare.read).toBeLessThan(5000)
  },
)

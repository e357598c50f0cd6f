import { expect, test } from 'bun:test'
import { rangesOf } from '../../../src/storage/usage/reports.ts'
import type { Database } from '../../../src/storage/sqlite/connection/database.ts'
import { readUsage } from '../../../src/storage/sqlite/usage-source.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testDatabase } from './support/folder.ts'

const day = 86_400_000
const [from, to] = [100 * day, 101 * day]
const until = from + day / 2
const organizations = 3000
const report = {
  ranges: rangesOf({ from, to, width: '1d', groupBy: ['organization'] }),
  widthMs: day,
  sums: 'all',
  by: new Set(['organization']),
} as const

/** A day that is not over, on which each organization has had one request. */
function filledDatabase(): Database {
  const database = testDatabase()
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${organizations - 1})`
  for (const text of [
    `${numbers} INSERT INTO organizations (id, name, created_at) SELECT printf('org_%04d', i), 'org ' || i, 1 FROM n`,
    `${numbers} INSERT INTO usage_sums (organization_id, width, start, key_id, api, model, provider, requests, failed,
        client_errors, server_errors, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
        priced, unpriced, cost, latencies, first_tokens)
      SELECT printf('org_%04d', i), 'day', ${from}, '', '', '', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 10, '[90,1]', '[]' FROM n`,
    `UPDATE usage_rollup SET until = ${until}`,
  ])
    database.sqlite.run(text)
  return database
}

test('a report by organization of a day that is not over reads few of them in each step, and adds up nothing', () => {
  const database = filledDatabase()
  const batches = [...readUsage(database, report)]
  expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(1000)
  expect(batches.flat()).toHaveLength(organizations)
  // Nothing is passed on before all is read.
  expect(batches.slice(0, 3)).toEqual([[], [], []])
  const plans = plansOf(database, (probed) => [...readUsage(probed, report)])
  const texts = [...plans.keys()].filter((text) => text.includes('CROSS JOIN usage_sums'))
  expect(texts).toHaveLength(1)
  expect(texts[0]).not.toContain('GROUP BY')
})

test('a request that is added to the totals between two steps of a report counts once', () => {
  const database = filledDatabase()
  const newest = 'org_2999'
  database.sqlite.run(
    `INSERT INTO usage (id, organization_id, key_id, created_at, api, stream, prompt_tokens, completion_tokens, cached_tokens,
        cache_write_tokens, reasoning_tokens, estimated, status)
      VALUES ('late', '${newest}', 'key', ${until + 1}, 'chat', 0, 0, 0, 0, 0, 0, 0, 200)`,
  )
  const reading = readUsage(database, report)
  const first = reading.next().value ?? []
  database.sqlite.run(`UPDATE usage_sums SET requests = requests + 1 WHERE organization_id = '${newest}'`)
  database.sqlite.run(`UPDATE usage_rollup SET until = ${until + 2}`)
  const slices = [first, ...reading].flat()
  const requestsOf = (organization: string) =>
    slices
      .filter((slice) => slice.organization === organization)
      .reduce((sum, { requests = 0 }) => sum + requests, 0)
  expect(requestsOf(newest)).toBe(2)
  expect(slices.reduce((sum, { requests = 0 }) => sum + requests, 0)).toBe(organizations + 1)
})

import { describe, expect, onTestFinished, test } from 'bun:test'
import type { UsageDimension } from '../../../src/storage/ports/usage.ts'
import { sampleStatement } from '../../../src/storage/postgres/sample-statement.ts'
import { slicesStatement } from '../../../src/storage/postgres/slices-statement.ts'
import { createUsageSource } from '../../../src/storage/postgres/usage-source.ts'
import { clientReports } from '../../../src/storage/usage/report-slots.ts'
import {
  createUsageReports,
  rangesOf,
  type UsageReading,
  type UsageSource,
} from '../../../src/storage/usage/reports.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { countRows } from './support/count-rows.ts'

const day = 86_400_000
const [from, to] = [100 * day, 110 * day]
const keys = 2000

/** The totals of ten days, of two models for each key; ten keys share an organization, ten others a project. */
async function filledDatabase() {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const database = await openTestDatabase(url)
  onTestFinished(async () => {
    await database.close()
    await server.dropDatabase(url)
  })
  await database.query(`INSERT INTO organizations (id, name, created_at) SELECT 'org_' || i, 'org ' || i, 1
    FROM generate_series(0, ${keys / 10 - 1}) i`)
  await database.query(`INSERT INTO usage_totals (organization_id, width, start, key_id, api, model, provider, project_id,
      in_project, requests)
    SELECT 'org_' || i / 10, 'day', start, 'key' || i, 'chat', model, 'acme', 'project' || i % 200, 1, 1
    FROM generate_series(${from}::bigint, ${to - day}, ${day}) start, generate_series(0, ${keys - 1}) i,
      unnest(ARRAY['m0', 'm1']) model`)
  await database.query(`UPDATE usage_rollup SET until = ${to}, fence = ${to}`)
  await database.query('ANALYZE')
  return database
}

describe.skipIf(!hasPostgres)('a large report of PostgreSQL', () => {
  test('with too many results is refused before anything is added up, and one with as many as it may have is read', async () => {
    const database = await filledDatabase()
    const read = async (groupBy: UsageDimension, maxGroups: number, days = 1) => {
      let added = 0
      const source = createUsageSource(database)
      const counted: UsageSource = {
        ...source,
        readSlices(...reading) {
          added++
          return source.readSlices(...reading)
        },
      }
      const buckets = createUsageReports(counted, { ...clientReports, maxGroups })
      const query = { width: '1d', from, to: from + days * day, groupBy: [groupBy] } as const
      const [result] = await Promise.allSettled([buckets.read(query)])
      return { result, added }
    }
    for (const [groupBy, groups] of [
      ['key', keys],
      ['project', keys / 10],
    ] as const) {
      const tooMany = await read(groupBy, groups - 1)
      expect(tooMany).toMatchObject({
        result: { status: 'rejected', reason: { status: 400, param: 'group_by' } },
        added: 0,
      })
      const allowed = await read(groupBy, groups)
      expect(allowed).toMatchObject({ result: { status: 'fulfilled' }, added: 1 })
    }
    // A key on two days is two results.
    expect((await read('key', keys, 2)).added).toBe(0)
  })

  test('with too many results is found by a part of its totals', async () => {
    const { query } = await filledDatabase()
    const reading = (by: readonly UsageDimension[]): UsageReading => ({
      ranges: rangesOf({ from, to, width: '1d', groupBy: by }),
      widthMs: day,
      sums: 'usage',
      by: new Set(by),
    })
    const { text, values } = sampleStatement(reading(['key']), ['key'], 1000) ?? { text: '', values: [] }
    const { counting, read } = countRows(query)
    expect(await counting<object>(text, values)).toEqual([{ groups: 1001 }])
    expect(read()).toBeLessThan(5000)
    // Models are few; what is rarely refused is not worth it, nor are the many results of the command line.
    expect(sampleStatement(reading(['model']), ['model'], 1000)).toBeUndefined()
    expect(sampleStatement(reading(['key']), ['key'], 100_000)).toBeUndefined()
    const ofOne = { ...reading(['key']), organizations: ['org_1'] }
    expect(sampleStatement(ofOne, ['key'], 1000)).toBeUndefined()
  })

  test('by project does not read the totals of other organizations', async () => {
    const { query } = await filledDatabase()
    await query(`UPDATE usage_totals SET requests = 2`)
    const reading: UsageReading = {
      ranges: rangesOf({ from, to, width: '1d', groupBy: ['project'] }),
      widthMs: day,
      sums: 'usage',
      by: new Set(['project']),
      organizations: ['org_1'],
    }
    const { text, values } = slicesStatement(reading)
    const { counting, read } = countRows(query)
    await counting(text, values)
    // It has 200, and all have 40,000.
    expect(read()).toBeWithin(200, 2000)
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../src/lib/secret.ts'
import { type BucketWidth, bucketWidths, type UsageBucketQuery } from '../../src/storage/ports/usage.ts'
import * as postgres from '../../src/storage/postgres/connection/database.ts'
import { createUsageSource as createPostgresSource } from '../../src/storage/postgres/usage-source.ts'
import { operatorReports } from '../../src/storage/usage/report-slots.ts'
import { createUsageReports } from '../../src/storage/usage/reports.ts'
import { createRollup as createPostgresRollup } from '../../src/storage/postgres/usage-rollup.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createUsageSource } from '../../src/storage/sqlite/usage-source.ts'
import { createRollup } from '../../src/storage/sqlite/usage-totals.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { execute, startPostgres } from '../support/postgres/server.ts'
import { fillUsage, usageDays } from '../support/usage-rows.ts'

/**
 * `bun test/bench/usage-reports.ts [ROWS] [sqlite|postgres] [ORGANIZATIONS]`: the time of reports from SQLite or PostgreSQL,
 * and the longest time that they block the event loop.
 */
const [rows = 1_000_000, organizations = 5] = [process.argv[2], process.argv[4]].map((text) =>
  text === undefined ? undefined : Number(text),
)
const runs = 5
const day = bucketWidths['1d']
const to = Math.floor(Date.now() / day) * day
const from = to - usageDays * day

const store = await (process.argv[3] === 'postgres' ? openPostgresStore() : openSqliteStore())

const lastDay = { width: '1d', from: to - day } as const

const reports: Readonly<Record<string, Partial<UsageBucketQuery> & { readonly width: BucketWidth }>> = {
  '1 day': lastDay,
  '1 day by model': { ...lastDay, groupBy: ['model'] },
  '1 day by organization': { ...lastDay, groupBy: ['organization'] },
  '1 day by key': { ...lastDay, groupBy: ['key'] },
  'costs of 1 day': { ...lastDay, sums: 'costs' },
  'costs of 1 day by organization': { ...lastDay, sums: 'costs', groupBy: ['organization'] },
  '7 days': { width: '1d', from: to - 7 * day },
  '7 days by organization': { width: '1d', from: to - 7 * day, groupBy: ['organization'] },
  '30 days': { width: '1d', from },
  '30 days by model': { width: '1d', from, groupBy: ['model'] },
  '30 days by model and key': { width: '1d', from, groupBy: ['model', 'key'] },
  '30 days of one organization by key': { width: '1d', from, groupBy: ['key'], organizations: ['org_1'] },
  '24 hours by model': { width: '1h', from: to - day, groupBy: ['model'] },
  '168 hours by model': { width: '1h', from: to - 7 * day, groupBy: ['model'] },
  '60 minutes by model': {
    width: '1m',
    from: to - day / 2,
    to: to - day / 2 + 3_600_000,
    groupBy: ['model'],
  },
  '1440 minutes': { width: '1m', from: to - day },
  '7 days by project': { width: '1d', from: to - 7 * day, groupBy: ['project'] },
  '30 days by project': { width: '1d', from, groupBy: ['project'] },
  '30 days by project, costs': { width: '1d', from, sums: 'costs', groupBy: ['project'] },
  '7 days by tag': { width: '1d', from: to - 7 * day, groupBy: ['tag'] },
  '7 days by user': { width: '1d', from: to - 7 * day, groupBy: ['user'] },
  '30 days by user': { width: '1d', from, groupBy: ['user'] },
  '30 days by user, costs': { width: '1d', from, sums: 'costs', groupBy: ['user'] },
  '30 days of one user': { width: '1d', from, groupBy: [], users: ['user7'] },
}

await fillUsage(store, { rows, from, to, organizations })
// As a server that has been running would have done; the totals are new to it.
await store.rows('ANALYZE usage')
console.log(`${rows} rows of ${organizations} organizations over ${usageDays} days`)
console.log('before they are added to the totals')
await measureAll(['7 days', '24 hours by model', '1440 minutes'])
await rollUp()
await store.rows('ANALYZE')
console.log('\nafterwards')
await measureAll()
await measure('1 day, eight at once', () => Promise.all(Array.from({ length: 8 }, () => read(lastDay))))
await store.close()

async function openSqliteStore() {
  const folder = mkdtempSync(join(tmpdir(), 'weir-usage-'))
  const database = openDatabase(join(folder, 'weir.db'))
  const writer = new Writer(database)
  return {
    buckets: createUsageReports(createUsageSource(database), operatorReports),
    rollUp: createRollup(database, writer),
    rows: async (sql: string) => database.sqlite.query<Readonly<Record<string, unknown>>, []>(sql).all(),
    async close() {
      writer.close()
      database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function openPostgresStore() {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const database = await postgres.openDatabase(new Secret(url))
  return {
    buckets: createUsageReports(createPostgresSource(database), operatorReports),
    rollUp: createPostgresRollup(database),
    rows: (sql: string) => execute<Readonly<Record<string, unknown>>>(url, sql),
    async close() {
      await database.close()
      await server.dispose()
    },
  }
}

async function rollUp(): Promise<void> {
  const times: number[] = []
  for (let start = performance.now(); (await store.rollUp()) > 0; start = performance.now())
    times.push(performance.now() - start)
  times.sort((one, other) => one - other)
  const total = times.reduce((sum, time) => sum + time, 0)
  const totals = await store.rows('SELECT width, count(*) AS count FROM usage_totals GROUP BY 1')
  console.log(
    `\nadded to the totals in ${times.length} steps: ${((total * 1000) / rows).toFixed(1)} µs a row, ` +
      `median step ${times[times.length >> 1]?.toFixed(1)} ms, longest ${times.at(-1)?.toFixed(1)} ms; ` +
      totals.map(({ width, count }) => `${count} rows by ${width}`).join(', '),
  )
}

function read(query: Partial<UsageBucketQuery>): Promise<unknown> {
  return store.buckets.read({ from, to, groupBy: [], sums: 'usage', ...query })
}

async function measureAll(names = Object.keys(reports)): Promise<void> {
  for (const [name, query] of Object.entries(reports))
    if (names.includes(name)) await measure(name, () => read(query))
}

async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  let blockedMs = 0
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    const blocked = await longestBlock(work()).catch((error: unknown) => String(error))
    // A report may have too many results.
    if (typeof blocked === 'string') return console.log(`${name.padEnd(37)} ${blocked}`)
    blockedMs = Math.max(blockedMs, blocked)
    times.push(performance.now() - start)
  }
  times.sort((one, other) => one - other)
  const figures = [
    ['min', times[0]],
    ['median', times[runs >> 1]],
    ['worst', times.at(-1)],
    ['blocks', blockedMs],
  ] as const
  const columns = figures.map(([title, ms = 0]) => `${title} ${ms.toFixed(1).padStart(7)} ms`)
  console.log(`${name.padEnd(37)} ${columns.join('  ')}`)
}

/** The longest time between two turns of the event loop until the promise is settled. */
async function longestBlock(promise: Promise<unknown>): Promise<number> {
  const watch = { settled: false, longest: 0 }
  const watched = promise.finally(() => (watch.settled = true))
  for (let last = performance.now(); !watch.settled;) {
    await new Promise((resolve) => setImmediate(resolve))
    watch.longest = Math.max(watch.longest, performance.now() - last)
    last = performance.now()
  }
  await watched
  return watch.longest
}

import { expect, test } from 'bun:test'
import type { UsageBucketQuery } from '../../../src/storage/ports/usage.ts'
import { fillUsage } from '../../support/usage-rows.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'
import { countOf } from './support/ledger-fixture.ts'
import { type OpenStore, testStores } from './support/stores.ts'
import { usageStorage } from './support/usage-fixture.ts'

const hour = 3_600_000
const day = 24 * hour
const all: UsageBucketQuery = {
  width: '1d',
  from: 0,
  to: Math.ceil(Date.now() / day) * day,
  groupBy: ['organization', 'key', 'api', 'model', 'provider'],
}

/** A store whose totals can be updated, and compared with the rows that they are made of. */
async function totalsStorage(open: OpenStore) {
  const scenario = await usageStorage(open)
  const { store } = scenario
  const { buckets } = store
  const { rollUp, expire } = store.usage
  const hasLate = (await countOf(store, 'usage_late').catch(() => undefined)) !== undefined
  const kept = [
    'usage_totals',
    'usage_sums',
    'usage_names',
    'usage_rollup',
    ...(hasLate ? ['usage_late'] : []),
  ]

  const readAll = async (): Promise<unknown> => [
    await buckets.read(all),
    await buckets.read({ ...all, width: '1h' }),
    await buckets.read({ ...all, groupBy: ['project', 'organization'] }),
    await buckets.read({ ...all, width: '1h', groupBy: ['project'] }),
    await buckets.read({ ...all, groupBy: ['model'], projects: ['proj_a', 'proj_0_1'] }),
    // These read sums.
    await buckets.read({ ...all, groupBy: ['organization'] }),
    await buckets.read({ ...all, width: '1h', groupBy: ['api', 'model', 'provider'] }),
  ]

  /** Reports by hour and day, which read totals, are equal to those of a database in which nothing is added to them. */
  async function expectConsistent(read = readAll): Promise<void> {
    await store.written()
    const reported = await read()
    for (const table of kept) await store.rows(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`)
    await store.rows('UPDATE usage_rollup SET until = 0')
    for (const table of kept.filter((name) => name !== 'usage_rollup'))
      await store.rows(`DELETE FROM ${table}`)
    expect(reported).toEqual(await read())
    await store.rows('DELETE FROM usage_rollup')
    for (const table of kept) {
      await store.rows(`INSERT INTO ${table} SELECT * FROM kept_${table}`)
      await store.rows(`DROP TABLE kept_${table}`)
    }
  }

  return {
    ...scenario,
    buckets,
    step: rollUp,
    async addAll() {
      await store.written()
      while ((await rollUp()) > 0);
    },
    expire,
    count: async () => Number(await countOf(store, 'usage_totals')),
    expectConsistent,
  }
}

/** The project of a key that moves twice. */
function projectAt(time: number): string | undefined {
  if (time < 10.3 * day) return undefined
  return time < 20.6 * day ? 'proj_a' : 'proj_b'
}

const seed = process.env.WEIR_TEST_SEED ?? 'totals'

testStores((open) => {
  /** Steps are short, so that a few hundred rows take several. */
  const openInSteps: OpenStore = (options) => open({ ...options, rollUpRows: 200 })

  test('totals that are added in steps are those of the rows, after each step', async () => {
    const { store, step, expectConsistent, count } = await totalsStorage(openInSteps)
    await fillUsage(store, { rows: 440, from: 5 * day, to: 15 * day })
    let steps = 0
    for (; (await step()) > 0; steps++) await expectConsistent()
    expect(steps).toBeGreaterThan(1)
    expect(await count()).toBeGreaterThan(500)
    await expectConsistent()
  })

  test(`a report of the command line is that of its rows, whatever times it covers (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const { store, step, report, expectConsistent } = await totalsStorage(openInSteps)
    await fillUsage(store, { rows: 550, from: 5 * day, to: 8 * day })
    const times = Array.from({ length: 3 }, () => {
      const since = Math.floor((4.5 + random() * 3) * day)
      return { since, until: since + Math.floor(random() ** 2 * 3 * day) }
    })
    const aligned = { since: 5 * day, until: 8 * day }
    const queries = [...times, aligned, { since: 6 * day }, { since: 6 * day + 1, until: 6 * day + 2 }]
    const read = async () => {
      const reports: unknown[] = []
      for (const by of ['model', 'provider', 'org', 'project', 'key', 'day', 'user', 'tag', 'error'] as const)
        for (const query of queries) reports.push(await report(by, query))
      return reports
    }
    await step()
    await expectConsistent(read)
    while ((await step()) > 0);
    await expectConsistent(read)
    const [byModel, byTag] = [await report('model', aligned), await report('tag', aligned)]
    expect(byModel.total).toEqual(byTag.total)
    expect(byModel.total.requests).toBe(550)
  })

  test('a request that is recorded after its time was added counts once', async () => {
    const { add, addAll, expectConsistent, buckets, acme } = await totalsStorage(open)
    await add({ model: 'a/b' }, { latency: 123, firstToken: 7, cost: 9_007_199_254_740_991n })
    await addAll()
    await add({ model: 'a/b', createdAt: 5 * day - 1 }, { latency: 456 })
    await add({ model: 'a/b', createdAt: 5 * day }, { status: 500, error: 'upstream_timeout' })
    await add({ model: 'a/b', createdAt: 5 * day }, { cost: 9_007_199_254_740_991n })
    await addAll()
    await expectConsistent()
    const groups = await buckets.read({ ...all, groupBy: ['model'], organizations: [acme.id] })
    expect(
      groups.map(({ start, totals }) => [start / day, totals.requests, totals.failed, totals.latency]),
    ).toEqual([
      [4, 1, 0, { p50: 450, p95: 450 }],
      [5, 3, 1, { p50: 120, p95: 120 }],
    ])
    // More than a number can represent exactly.
    expect(groups[1]?.totals.cost).toBe(2n * 9_007_199_254_740_991n + 50n)
  })

  test('rows that expire are subtracted from the totals, and periods without rows have none', async () => {
    const { store, expire, addAll, expectConsistent, count } = await totalsStorage(open)
    await fillUsage(store, { rows: 1000, from: 5 * day, to: 10 * day })
    await addAll()
    for (let expired = 1; expired > 0;) {
      expired = await expire(7 * day + hour / 2)
      await expectConsistent()
    }
    expect(await count()).toBeGreaterThan(0)
    while ((await expire(11 * day)) > 0);
    expect(await count()).toBe(0)
  })

  test('a report by project reads the totals of keys that did not move, and the rows of those that did', async () => {
    const { store, add, addAll, expectConsistent, buckets, expire } = await totalsStorage(open)
    for (const [index, project] of ['proj_a', 'proj_a', 'proj_b', undefined].entries())
      for (const key of ['moved', project ?? 'none'])
        for (const hours of [0, 30]) await add({ key, project, createdAt: 5 * day + (index + hours) * hour })
    await addAll()
    await expectConsistent()
    const mixed = await store.rows('SELECT width, key_id, start FROM usage_totals WHERE in_project = -1')
    expect(mixed).toEqual([5, 6].map((start) => ({ width: 'day', key_id: 'moved', start: start * day })))
    // As if an older version had added some of the rows to the totals.
    await store.rows("UPDATE usage_totals SET in_project = 1 WHERE width = 'day' AND key_id = 'proj_a'")
    await expectConsistent()
    await expire(5 * day + 3.5 * hour)
    await expectConsistent()
    const groups = await buckets.read({ ...all, groupBy: ['project'] })
    expect(groups.map(({ values, totals }) => [values.project, totals.requests, totals.cost])).toEqual([
      ['proj_a', 4, 200n],
      [null, 2, 100n],
      ['proj_b', 2, 100n],
    ])
  })

  test('an organization that is deleted has no totals, and its rows are not added', async () => {
    const { add, addAll, organizations, buckets, count, other, expire } = await totalsStorage(open)
    await add()
    await addAll()
    await add({ createdAt: 6 * day, organization: other.id })
    await organizations.delete('other')
    await addAll()
    expect((await buckets.read({ ...all, groupBy: [] })).map(({ start }) => start)).toEqual([5 * day])
    await organizations.delete('acme')
    expect(await buckets.read(all)).toEqual([])
    expect(await count()).toBe(0)
    expect(await expire(40 * day)).toBe(0)
  })

  test(`random inserts, steps and deletions in any order leave totals that match the rows (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const { add, step, expire, expectConsistent, acme, other } = await totalsStorage(open)
    for (let index = 0; index < 200; index++) {
      const createdAt = Math.floor(random() * 30 * day)
      const organization = random() < 0.5 ? acme.id : other.id
      const outcome =
        random() < 0.2 ? { status: 502, error: 'upstream_timeout' } : { latency: Math.floor(random() * 5000) }
      await add({ createdAt, organization, project: projectAt(createdAt), model: `a/${index % 3}` }, outcome)
      if (random() < 0.05) await step()
      if (random() < 0.03) await expire(Math.floor(random() * 10 * day))
      if (random() < 0.05) await expectConsistent()
    }
    await expectConsistent()
  })

  test(`rows that are inserted, added and deleted at the same time leave totals that match the rows (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const { add, step, expire, expectConsistent, acme } = await totalsStorage(open)
    const since = Date.now() - 2 * 60_000
    for (let round = 0; round < 15; round++) {
      // Some are before the time up to which rows are added, and some after it.
      const adding = Array.from({ length: 20 }, (_, index) =>
        add({
          createdAt: Math.floor(since + random() * 110_000),
          organization: acme.id,
          project: index % 3 > 0 ? 'proj_a' : projectAt(round * 2 * day),
          model: `a/${index % 3}`,
        }),
      )
      await Promise.all([
        step(),
        ...adding.slice(0, 10),
        step(),
        ...adding.slice(10),
        expire(since + round * 1000),
      ])
    }
    await expectConsistent()
    while ((await step()) > 0);
    await expectConsistent()
  })

  test('a report that is read while rows are added to the totals counts each request once', async () => {
    const { store, buckets, step } = await totalsStorage(open)
    await fillUsage(store, { rows: 4500, from: 5 * day, to: 15 * day })
    const read = () => buckets.read({ ...all, groupBy: ['organization'] })
    const expected = await read()
    for (let more = 1; more > 0;) {
      const report = read()
      more = await step()
      expect(await report).toEqual(expected)
    }
  })
})

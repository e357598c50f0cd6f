import { expect, test } from 'bun:test'
import type { UsageBucketQuery } from '../../../src/storage/ports/usage.ts'
import { fillUsage } from '../../support/usage-rows.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'
import { countOf } from './support/ledger-fixture.ts'
import { comparable, countedRows, plainReport } from './support/plain-report.ts'
import { type OpenStore, testSharedStores, testStores } from './support/stores.ts'
import { usageStorage } from './support/usage-fixture.ts'

const hour = 3_600_000
const day = 24 * hour
const seed = process.env.WEIR_TEST_SEED ?? 'sums'

/** What reports of all organizations are grouped by: all but the last ones read sums. */
const groupings: readonly UsageBucketQuery['groupBy'][] = [
  [],
  ['model'],
  ['api', 'provider'],
  ['organization'],
  ['user'],
  ['organization', 'user'],
  ['session'],
  ['tag'],
  ['organization', 'model'],
  ['user', 'model'],
]

/** A store with requests of four days, whose reports are compared with its rows. */
async function summedStorage(open: OpenStore, rows: number) {
  const scenario = await usageStorage(open)
  const { store, acme, other } = scenario
  const random = randomFrom(seed)
  const organizations = [acme.id, other.id]
  const users = Math.floor(rows / 2.6)
  await fillUsage(store, { rows, from: 5 * day, to: 9 * day, organizations, users })
  await store.rows(`UPDATE usage SET tags = '["red","blue","red"]' WHERE prompt_tokens % 7 = 0`)
  await store.rows('UPDATE usage SET "user" = NULL WHERE prompt_tokens % 11 = 0')

  function* queries(): Generator<UsageBucketQuery> {
    const from = Math.floor((4.5 + random() * 2) * day)
    const odd = { from, to: from + Math.floor(random() * 3 * day) }
    for (const groupBy of groupings) {
      yield { groupBy, ...odd }
      yield { groupBy, from: 5 * day, to: 9 * day, width: '1d' }
    }
    yield { groupBy: ['api'], models: ['acme/m1', 'acme/m3'], from: 6 * day }
    yield { groupBy: ['user'], users: ['user7', 'user14', 'unknown'], from: 6 * day, to: 10 * day }
    yield { groupBy: ['organization'], users: ['user7', 'user14', 'user7'], ...odd }
    yield { groupBy: [], users: ['user7'], organizations: [acme.id], ...odd, width: '1d' }
    yield { groupBy: [], tags: ['blue', 'team-1'], ...odd, width: '1d' }
    yield { groupBy: ['tag'], tags: ['blue', 'team-1'], from: 6 * day }
  }

  return {
    ...scenario,
    random,
    /** Reports are those of the rows, by day and over any times: all of them, or some. */
    async expectExact(isChosen = (_index: number) => true): Promise<void> {
      await store.written()
      const rows = await countedRows(store)
      for (const query of [...queries()].filter((_, index) => isChosen(index)))
        expect(comparable(await store.buckets.read(query))).toEqual(plainReport(rows, query))
    },
    async addAll(): Promise<void> {
      while ((await store.usage.rollUp()) > 0);
    },
    /** As an upgrade leaves a database that had totals, but no sums. */
    async forgetSums(): Promise<void> {
      await store.rows('DELETE FROM usage_sums')
      await store.rows('DELETE FROM usage_names')
      await store.rows(
        'UPDATE usage_rollup SET summed_from = until, named_from = until, all_named_from = until',
      )
    },
  }
}

testStores((open) => {
  /** Steps are short, so that a few hundred rows take several. */
  const openInSteps: OpenStore = (options) => open({ ...options, rollUpRows: 200 })

  test(`a report of all organizations is that of its rows, before and after they are summed up (seed ${seed})`, async () => {
    const { store, expectExact, addAll } = await summedStorage(open, 2600)
    await expectExact()
    expect(await store.usage.rollUp()).toBeGreaterThan(0)
    await expectExact()
    await addAll()
    await expectExact()
  })

  test('a report of all organizations by day reads none of their totals', async () => {
    const { store, addAll } = await summedStorage(open, 600)
    await addAll()
    const query = { from: 5 * day, to: 9 * day } as const
    const read = (groupBy: UsageBucketQuery['groupBy']) => store.buckets.read({ ...query, groupBy })
    const [byModel, byOrganization] = [await read(['model']), await read(['organization'])]
    await store.rows('DELETE FROM usage_totals')
    expect(await read(['model'])).toEqual(byModel)
    expect(await read(['organization'])).toEqual(byOrganization)
    expect(byOrganization.map(({ totals }) => totals.requests)).toEqual([300, 300])
    expect(await read(['key'])).toEqual([])
  })

  test('a report by user, session or tag of whole days reads no request, and has the costs of one by key', async () => {
    const { store, addAll } = await summedStorage(open, 600)
    await addAll()
    const costs = async (by: UsageBucketQuery['groupBy'], query: Partial<UsageBucketQuery> = {}) =>
      (await store.buckets.read({ from: 5 * day, to: 9 * day, groupBy: by, ...query })).reduce(
        (sum, { totals }) => sum + (totals.cost ?? 0n),
        0n,
      )
    const charged = await costs(['key'])
    const ofUsers = await costs(['session'], { users: ['user7'] })
    await store.rows('DELETE FROM usage')
    expect(await costs(['user'])).toBe(charged)
    expect(await costs(['session'], { width: '1d' })).toBe(charged)
    expect(await costs(['tag'])).toBeGreaterThan(charged)
    expect(await costs([], { users: ['user7'] })).toBe(ofUsers)
    // What the sums are not divided by.
    expect(await costs(['user', 'model'])).toBe(0n)
  })

  test('a report of all organizations by user, session or tag reads the sums of none of them', async () => {
    const { store, addAll } = await summedStorage(open, 600)
    await addAll()
    const queries: readonly Pick<UsageBucketQuery, 'groupBy' | 'users' | 'sessions' | 'tags'>[] = [
      { groupBy: ['user'] },
      { groupBy: ['session'] },
      { groupBy: ['tag'] },
      { groupBy: [], users: ['user7', 'user14'] },
      { groupBy: ['session'], sessions: ['session-3'] },
      { groupBy: [], tags: ['blue', 'team-1'] },
    ]
    const read = () =>
      Promise.all(queries.map((query) => store.buckets.read({ ...query, from: 5 * day, to: 9 * day })))
    const before = await read()
    await store.rows("DELETE FROM usage_names WHERE organization_id <> ''")
    expect(await read()).toEqual(before)
    await store.rows('DELETE FROM usage_names')
    expect((await read()).flat()).toEqual([])
  })

  test(`a database without sums has them after some steps, with what changes meanwhile (seed ${seed})`, async () => {
    const { store, add, other, random, ...scenario } = await summedStorage(openInSteps, 520)
    await scenario.addAll()
    await scenario.forgetSums()
    await scenario.expectExact()
    let steps = 0
    for (let expired = 5 * day; (await store.usage.rollUp()) > 0; steps++) {
      for (let index = 0; index < 5; index++)
        await add({ createdAt: Math.floor((5 + random() * 4) * day), organization: other.id })
      expired += Math.floor(random() * 12 * hour)
      await store.usage.expire(expired)
      // Others in each step.
      await scenario.expectExact((index) => index % 4 === steps % 4)
    }
    expect(steps).toBeGreaterThan(1)
    expect(await store.rows('SELECT summed_from FROM usage_rollup')).toEqual([{ summed_from: 0 }])
    await scenario.expectExact()
    while ((await store.usage.expire(10 * day)) > 0);
    expect(await countOf(store, 'usage_sums')).toBe(0)
    expect(await countOf(store, 'usage_names')).toBe(0)
  })

  test('a report does not count an organization from the begin of its deletion to its end, or afterwards', async () => {
    const { store, organizations, expectExact, addAll } = await summedStorage(open, 1500)
    await addAll()
    const query: UsageBucketQuery = { from: 5 * day, to: 9 * day, groupBy: ['model'] }
    await organizations.beginDeletion('other')
    await expectExact()
    const expected = await store.buckets.read(query)
    const reading: Promise<unknown>[] = []
    await organizations.delete(
      'other',
      () => void (reading.length < 8 && reading.push(store.buckets.read(query))),
    )
    expect(reading).toHaveLength(8)
    for (const report of await Promise.all(reading)) expect(report).toEqual(expected)
    await expectExact()
    await organizations.delete('acme')
    expect(await store.buckets.read(query)).toEqual([])
    expect(await countOf(store, 'usage_sums')).toBe(0)
    expect(await countOf(store, 'usage_names')).toBe(0)
  })

  test('the deletion of an organization subtracts what is summed up already, and only that', async () => {
    const { store, organizations, expectExact, addAll, forgetSums } = await summedStorage(openInSteps, 520)
    await addAll()
    await forgetSums()
    // Some of the rows of a day are summed up.
    await store.usage.rollUp()
    await organizations.delete('other')
    await expectExact()
    await addAll()
    await expectExact()
  })

  test('requests that end while their organization is deleted are never counted', async () => {
    const { add, other, organizations, expectExact, addAll } = await summedStorage(open, 200)
    await addAll()
    await organizations.beginDeletion('other')
    await add({ createdAt: 6 * day, organization: other.id })
    await addAll()
    await organizations.delete('other')
    await addAll()
    await expectExact()
  })
})

testSharedStores((open) => {
  test('the sums begin when no server of a version without them is left', async () => {
    const { store, expectExact, addAll } = await summedStorage(open, 100)
    const endOfTime = 8_640_000_000_000_000
    // As the migration leaves a database, and as an older server registers.
    await store.rows(
      `UPDATE usage_rollup SET summed_from = ${endOfTime}, named_from = ${endOfTime}, all_named_from = ${endOfTime}`,
    )
    await store.rows("INSERT INTO processes (id, beat, started_at) VALUES ('older', 1, 1)")
    await addAll()
    expect(await store.rows('SELECT summed_from FROM usage_rollup')).toEqual([{ summed_from: endOfTime }])
    expect(await countOf(store, 'usage_sums')).toBe(0)
    expect(await countOf(store, 'usage_names')).toBe(0)
    await expectExact()
    await store.rows("DELETE FROM processes WHERE id = 'older'")
    await addAll()
    expect(await store.rows('SELECT summed_from FROM usage_rollup')).toEqual([{ summed_from: 0 }])
    await expectExact()
  })
})

import { expect, test } from 'bun:test'
import type { ReportSums, UsageBucketQuery, UsageTotals } from '../../../src/storage/ports/usage.ts'
import { usageStorage } from './support/usage-fixture.ts'
import { testStores } from './support/stores.ts'

const day = 86_400_000
const minute = 60_000
const noTotals: UsageTotals = {
  requests: 0,
  failed: 0,
  clientErrors: 0,
  serverErrors: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  unpriced: 0,
  cost: 0n,
  latency: null,
  firstToken: null,
}
const all: UsageBucketQuery = { width: '1d', from: 0, to: 40 * day, groupBy: [] }

testStores((open) => {
  test('a report by period has the sums of each bucket, oldest first, without those of other periods', async () => {
    const { store, add } = await usageStorage(open)
    await add({ createdAt: 6 * day }, { cost: 9_007_199_254_740_991n })
    await add({ createdAt: 6 * day }, { cost: 9_007_199_254_740_991n, latency: 123, firstToken: 7 })
    await add({ createdAt: 5 * day - 1 }, { latency: 45_678 })
    await add({ createdAt: 6 * day - 1 }, { status: 502, error: 'upstream_timeout', latency: 9, cost: 0n })
    await store.written()
    const groups = await store.buckets.read({ ...all, from: 5 * day, to: 7 * day })
    const counts = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, clientErrors: 0, unpriced: 0 }
    const failure = {
      requests: 1,
      failed: 1,
      serverErrors: 1,
      promptTokens: 100,
      completionTokens: 20,
      cost: 0n,
    }
    const success = { requests: 2, failed: 0, serverErrors: 0, promptTokens: 200, completionTokens: 40 }
    const timed = { latency: { p50: 120, p95: 120 }, firstToken: { p50: 7, p95: 7 } }
    expect(groups).toEqual([
      { start: 5 * day, values: {}, totals: { ...counts, ...failure, latency: null, firstToken: null } },
      {
        start: 6 * day,
        values: {},
        totals: { ...counts, ...success, ...timed, cost: 18_014_398_509_481_982n },
      },
    ])
  })

  test.each([
    ['of a part of a day', { from: 5 * day + 1, to: 6 * day - 1, width: '1d' }, 5 * day],
    ['of a whole day', { from: 5 * day, to: 6 * day, width: '1d' }, 5 * day],
    ['of days in one bucket', { from: 4 * day, to: 7 * day, width: undefined }, 0],
  ] as const)(
    'a report %s has one bucket, before and after its requests are in the totals',
    async (_, range, start) => {
      const { store, add } = await usageStorage(open)
      for (const hour of [1, 2, 20])
        await add({ createdAt: 5 * day + hour * 3_600_000 + 5 }, { latency: 10 * hour })
      await store.written()
      const timed = { requests: 3, cost: 150n, latency: { p50: 20, p95: 200 } }
      const read = async (sums?: ReportSums) => {
        const groups = await store.buckets.read({ ...range, sums, groupBy: ['organization', 'model'] })
        return groups.map(({ start, totals }) => [start, totals] as const)
      }
      for (let turn = 0; turn < 2; turn++) {
        const whole = await read()
        expect(whole).toEqual([[start, expect.objectContaining(timed)]])
        expect(await read('costs')).toEqual([[start, { ...noTotals, requests: 3, cost: 150n }]])
        const withoutCost = whole.map(([start, totals]) => [start, { ...totals, cost: 0n }] as const)
        expect(await read('usage')).toEqual(withoutCost)
        while ((await store.usage.rollUp()) > 0);
      }
    },
  )

  test('times are rounded down to two digits, and percentiles are those of the nearest rank', async () => {
    const { store, add } = await usageStorage(open)
    for (const latency of [1, 99, 199, 1999, 19_999, 199_999]) await add({}, { latency })
    await store.written()
    const [group] = await store.buckets.read(all)
    expect(group?.totals.latency).toEqual({ p50: 190, p95: 190_000 })
  })

  test('percentiles count each request, alone in its totals or with others', async () => {
    const { store, add } = await usageStorage(open)
    for (const latency of [10, 10, 10, 20]) await add({}, { latency })
    await add({ createdAt: 6 * day }, { latency: 500, firstToken: 40 })
    await add({ createdAt: 7 * day }, { latency: 600 })
    await store.written()
    for (let turn = 0; turn < 2; turn++) {
      const [group] = await store.buckets.read({ ...all, width: undefined })
      expect(group?.totals).toMatchObject({
        latency: { p50: 10, p95: 600 },
        firstToken: { p50: 40, p95: 40 },
      })
      const [first] = await store.buckets.read(all)
      expect(first?.totals.latency).toEqual({ p50: 10, p95: 20 })
      while ((await store.usage.rollUp()) > 0);
    }
  })

  test('the cost of a bucket is unknown only if no request has one', async () => {
    const { store, add } = await usageStorage(open)
    await add({ model: 'a/1' }, { cost: undefined })
    await add({ model: 'a/2' }, { cost: undefined })
    await add({ model: 'a/2' }, { cost: 3n })
    await store.written()
    const groups = await store.buckets.read({ ...all, groupBy: ['model'] })
    expect(groups.map(({ values, totals }) => [values.model, totals.cost, totals.unpriced])).toEqual([
      ['a/2', 3n, 1],
      ['a/1', null, 1],
    ])
  })

  test('requests are grouped by every dimension, and filtered by organization, model and key', async () => {
    const { store, add, acme, other } = await usageStorage(open)
    await add({ model: 'a/1', key: 'one' })
    await add({ model: 'a/1', key: 'one', createdAt: 5 * day + minute })
    await add({ model: 'a/2', key: 'two', organization: other.id })
    await add({ key: 'two' }, { provider: undefined })
    await store.written()
    const read = async (query: Partial<UsageBucketQuery>) =>
      (await store.buckets.read({ ...all, ...query })).map(({ values, totals }) => [values, totals.requests])
    expect(await read({ groupBy: ['organization', 'key', 'api', 'model', 'provider'] })).toEqual([
      [{ organization: acme.id, key: 'one', api: 'chat', model: 'a/1', provider: 'openai' }, 2],
      ...[
        [{ organization: acme.id, key: 'two', api: 'chat', model: null, provider: null }, 1],
        [{ organization: other.id, key: 'two', api: 'chat', model: 'a/2', provider: 'openai' }, 1],
      ].toSorted((one, another) => JSON.stringify(one).localeCompare(JSON.stringify(another))),
    ])
    expect(await read({ organizations: [other.id] })).toEqual([[{}, 1]])
    expect(await read({ organizations: [] })).toEqual([])
    expect(await read({ models: ['a/1', 'a/3'] })).toEqual([[{}, 2]])
    expect(await read({ keys: ['two'], organizations: [acme.id] })).toEqual([[{}, 1]])
    expect(await read({ width: '1m', models: ['a/1'] })).toEqual([
      [{}, 1],
      [{}, 1],
    ])
  })

  test('a request counts once in the group of each of its tags, and of its user', async () => {
    const { store, add } = await usageStorage(open)
    await add({ tags: ['blue', 'red', 'blue'], user: 'ann' })
    await add({ tags: ['blue'] })
    await add({})
    await add({})
    await add({})
    await store.written()
    const read = async (label: 'tag' | 'user') =>
      (await store.buckets.read({ ...all, groupBy: [label] })).map(({ values, totals }) => [
        values[label],
        totals.requests,
      ])
    expect(await read('tag')).toEqual([
      [null, 3],
      ['blue', 2],
      ['red', 1],
    ])
    expect(await read('user')).toEqual([
      [null, 4],
      ['ann', 1],
    ])
  })

  test.each(['tag', 'user'] as const)(
    'rows of earlier versions with null and half characters are reported by %s',
    async (label) => {
      const { store, add } = await usageStorage(open)
      const texts = ['a\0b', '\ud800', '\udc00\ud800', '\\\0', '\\u0000', '😀']
      for (const text of texts) await add({ tags: [text, 'all'], user: text })
      await store.written()
      const groups = await store.buckets.read({ ...all, groupBy: [label] })
      const found = new Map(groups.map(({ values, totals }) => [values[label], totals.requests]))
      expect([found.get('😀'), found.get('\\u0000')]).toEqual([1, 1])
      expect([...found.values()].reduce((sum, requests) => sum + requests)).toBe(label === 'tag' ? 12 : 6)
      if (label === 'user') return
      expect(found.get('all')).toBe(6)
      const { groups: tags, total } = await store.report({ by: ['tag'], since: 0 })
      expect([total.requests, tags.find(({ values }) => values[0] === 'all')?.requests]).toEqual([6, 6])
    },
  )

  test('a report for the operator has no requests of an organization whose deletion has begun', async () => {
    const { store, add, other } = await usageStorage(open)
    await add({ organization: other.id })
    await add()
    await store.written()
    await store.organizations.beginDeletion('other')
    const groups = await store.buckets.read({ ...all, groupBy: ['organization'] })
    expect(groups.map(({ totals }) => totals.requests)).toEqual([1])
  })
})

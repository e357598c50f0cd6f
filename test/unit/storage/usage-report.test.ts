import { expect, test } from 'bun:test'
import { testStores } from './support/stores.ts'
import { usageStorage } from './support/usage-fixture.ts'

const day = 86_400_000

testStores((open) => {
  const storage = () => usageStorage(open)

  test('an unknown cost is null, unless others of the group are known', async () => {
    const { add, report } = await storage()
    await add({ model: 'a/own' }, { cost: undefined })
    await add({ model: 'a/mixed' }, { cost: undefined })
    await add({ model: 'a/mixed' })
    await add(
      { model: 'a/failed' },
      { cost: undefined, usage: undefined, status: 502, error: 'upstream_timeout' },
    )
    await add({ model: 'a/free' }, { cost: 0n })
    const { groups, total } = await report('model')
    expect(groups.map(({ values, cost, unpriced }) => [values[0], cost, unpriced]).toSorted()).toEqual([
      ['a/failed', 0n, 0],
      ['a/free', 0n, 0],
      ['a/mixed', 50n, 1],
      ['a/own', null, 1],
    ])
    expect(total).toMatchObject({ cost: 50n, unpriced: 2 })
  })

  test('failures are counted by class and by code, and disconnected clients are in neither class', async () => {
    const { add, report, groups } = await storage()
    await add()
    await add({}, { status: 404, error: 'model_not_found' })
    await add({}, { status: 400 })
    await add({}, { status: 502, error: 'upstream_timeout' })
    await add({}, { status: 502, error: 'upstream_timeout' })
    await add({}, { status: 499, error: 'client_gone' })
    await add({}, { error: 'upstream_unavailable' })
    expect((await report('model')).total).toMatchObject({ failed: 6, clientErrors: 2, serverErrors: 2 })
    expect((await groups('error')).map(([code, requests]) => [code, requests])).toEqual([
      ['upstream_timeout', 2],
      [null, 1],
      ['client_gone', 1],
      ['model_not_found', 1],
      ['status_400', 1],
      ['upstream_unavailable', 1],
    ])
  })

  test('the latencies of a group are the 50th and 95th percentiles of its successful requests', async () => {
    const { add, report } = await storage()
    for (let latency = 100; latency >= 1; latency--)
      await add({ model: 'a/many', tags: ['x', 'y'] }, { latency })
    await add({ model: 'a/one' }, { latency: 7, firstToken: 3 })
    await add({ model: 'a/one' }, { latency: 60_000, firstToken: 9, status: 502, error: 'upstream_timeout' })
    const { groups, total } = await report('model')
    expect(groups.map(({ values, latency, firstToken }) => [values[0], latency, firstToken])).toEqual([
      ['a/many', { p50: 50, p95: 95 }, null],
      ['a/one', { p50: 7, p95: 7 }, { p50: 3, p95: 3 }],
    ])
    expect(total).toMatchObject({ latency: { p50: 50, p95: 95 }, firstToken: { p50: 3, p95: 3 } })
    const tagged = (await report('tag')).groups.map(({ values, latency }) => [values[0], latency?.p95])
    expect(tagged.toSorted()).toEqual([
      [null, 7],
      ['x', 95],
      ['y', 95],
    ])
  })

  test('an organization is found by its name, which may be the id of another one', async () => {
    const { add, organizations, acme, report } = await usageStorage(open)
    const namesake = await organizations.create(acme.id)
    await add()
    await add({ organization: namesake.id })
    await add({ organization: namesake.id })
    expect((await report('model', { organization: acme.id })).total.requests).toBe(2)
    expect((await report('model', { organization: 'acme' })).total.requests).toBe(1)
  })

  test('days are those of UTC, in order, including those without a request', async () => {
    const { add, groups } = await storage()
    for (const createdAt of [7 * day, 5 * day, 6 * day - 1]) await add({ createdAt })
    expect(await groups('day', { since: 4 * day + 5, until: 8 * day + 1 })).toEqual([
      ['1970-01-05', 0, 0n],
      ['1970-01-06', 2, 100n],
      ['1970-01-07', 0, 0n],
      ['1970-01-08', 1, 50n],
      ['1970-01-09', 0, 0n],
    ])
    // Years before the first request are not.
    const months = await groups('day', { until: 900 * day })
    expect([months.length, months[0]]).toEqual([895, ['1970-01-06', 2, 100n]])
    expect((await groups('day')).length).toBe(2)
  })
})

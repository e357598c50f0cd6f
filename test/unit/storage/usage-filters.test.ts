import { expect, test } from 'bun:test'
import type { UsageBucketQuery, UsageFilters } from '../../../src/storage/ports/usage.ts'
import { readUsage } from '../../../src/storage/sqlite/usage-source.ts'
import { rangesOf } from '../../../src/storage/usage/reports.ts'
import { sqliteUsageStorage, usageStorage } from './support/usage-fixture.ts'
import { testStores } from './support/stores.ts'

const day = 86_400_000
const all: UsageBucketQuery = { width: '1d', from: 0, to: 40 * day, groupBy: ['organization'] }

testStores((open) => {
  test('a report of keys or projects of all organizations reads what their organizations used, and no more', async () => {
    const { store, keys, add, acme, other } = await usageStorage(open)
    const { record } = await keys.create({ organization: 'acme', name: 'laptop', expiresAt: null })
    const key = record.id
    const { id: project } = await store.projects.create({ organization: 'acme', name: 'search' })
    const { id: empty } = await store.projects.create({ organization: 'other', name: 'none' })
    await add({ key, project })
    await add({ key: 'unknown', project })
    // No server writes such rows, which show that the report does not look at the usage of others.
    await add({ key, project, organization: other.id })
    await store.written()
    const read = async (filters: UsageFilters) => {
      const groups = await store.buckets.read({ ...all, ...filters })
      return Object.fromEntries(groups.map(({ values, totals }) => [values.organization, totals.requests]))
    }
    const readAll = async () => ({
      key: await read({ keys: [key] }),
      twice: await read({ keys: [key, key] }),
      project: await read({ projects: [project] }),
      both: await read({ keys: [key], projects: [project] }),
      others: await read({ projects: [empty] }),
      // Of a key that is not known, the organization is not either.
      unknown: await read({ keys: [key, 'unknown'] }),
      ofOther: await read({ keys: [key], organizations: [other.id] }),
      user: await read({ keys: [key], users: ['ann'] }),
    })
    const expected = {
      key: { [acme.id]: 1 },
      twice: { [acme.id]: 1 },
      project: { [acme.id]: 2 },
      both: { [acme.id]: 1 },
      others: {},
      unknown: { [acme.id]: 2, [other.id]: 1 },
      ofOther: { [other.id]: 1 },
      user: {},
    }
    expect(await readAll()).toEqual(expected)
    while ((await store.usage.rollUp()) > 0);
    expect(await readAll()).toEqual(expected)
    await store.organizations.delete('acme')
    expect(await read({ keys: [key] })).toEqual({})
    // The projects of a deleted organization are deleted with it, but not its keys.
    expect(await read({ projects: [project] })).toEqual({ [other.id]: 1 })
  })
})

test.each([
  ['keys', { keys: ['one'] }],
  ['models', { models: ['a/1'] }],
] as const)('SQLite groups no rows of other %s than those of a report by user', async (_, filters) => {
  const { database, ledger, add } = await sqliteUsageStorage()
  for (const user of ['ann', 'ben']) await add({ key: 'one', model: 'a/1', user })
  for (const user of ['cid', 'dan', 'eve']) await add({ key: 'two', model: 'a/2', user })
  await ledger.flush()
  const query = { from: 0, to: 40 * day, groupBy: ['user'], ...filters } as const
  const by = new Set(['user', 'key', 'model'])
  const slices = [...readUsage(database, { ...filters, ranges: rangesOf(query), by, sums: 'usage' })].flat()
  expect(slices.map(({ user }) => user).toSorted()).toEqual(['ann', 'ben'])
})

import { expect, test } from 'bun:test'
import { usageStorage } from './support/usage-fixture.ts'
import { testStores } from './support/stores.ts'

const hour = 3_600_000

testStores((open) => {
  test('the last use of a key is exact within the last hour, and else the start of an hour', async () => {
    const { store, add, keys, acme, other } = await usageStorage(open)
    const now = Date.now()
    const old = 1000 * hour
    await add({ key: 'old', createdAt: old + 5 })
    await add({ key: 'old', createdAt: old - 3 * hour })
    await add({ key: 'recent', createdAt: old })
    await add({ key: 'recent', createdAt: now - hour / 2 }, { status: 502, error: 'upstream_timeout' })
    await add({ key: 'foreign', organization: other.id })
    await store.written()
    const exact = new Map([
      ['old', old + 5],
      ['recent', now - hour / 2],
    ])
    expect(await keys.lastUses([acme.id])).toEqual(exact)
    while ((await store.usage.rollUp()) > 0);
    expect(await keys.lastUses([acme.id])).toEqual(new Map([...exact, ['old', old]]))
    expect([...(await keys.lastUses([acme.id, other.id])).keys()].toSorted()).toEqual([
      'foreign',
      'old',
      'recent',
    ])
    expect(await keys.lastUses([])).toEqual(new Map())
  })
})

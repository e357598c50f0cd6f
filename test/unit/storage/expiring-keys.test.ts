import { expect, test } from 'bun:test'
import type { NewKey } from '../../../src/storage/ports/accounts.ts'
import { plansOf } from '../../support/query-plans.ts'
import { reportExpiringKeys } from '../../../src/storage/scripts/expiring-keys.ts'
import { testStorage } from './support/folder.ts'
import { type OpenStore, testStores, valuesOf } from './support/stores.ts'

const day = 86_400_000
const start = Date.UTC(2026, 10, 1)

/** A store with an organization, where keys are made at the start; `report` says of which there is an event after some days. */
async function keyStore(open: OpenStore) {
  const store = await open()
  await store.organizations.create('acme')
  const create = (name: string, days: number | null, more: object = {}): Promise<NewKey> =>
    store
      .keys(() => start)
      .create({ organization: 'acme', name, expiresAt: days === null ? null : start + days * day, ...more })
  const report = async (days: number) => {
    const before = (await valuesOf(store, 'SELECT id FROM webhook_events')).length
    while ((await store.webhooksAt(() => start + days * day).reportExpiringKeys()) > 0);
    const rows = await valuesOf(
      store,
      "SELECT data FROM webhook_events WHERE type = 'key.expiring' ORDER BY id",
    )
    const events = rows.slice(before).map(([data]) => JSON.parse(String(data)))
    return events.map(({ api_key: { name } }) => name)
  }
  return { ...store, store, create, report }
}

testStores((open) => {
  test('a key that expires within seven days is one event, with its name and that of its organization', async () => {
    const { create, report, store } = await keyStore(open)
    const { record } = await create('laptop', 90)
    await create('forever', null)
    expect(await report(82)).toEqual([])
    expect(await report(83)).toEqual(['laptop'])
    expect(await report(84)).toEqual([])
    const [[organization, data] = []] = await valuesOf(
      store,
      'SELECT organization_id, data FROM webhook_events',
    )
    expect(JSON.parse(String(data))).toEqual({
      organization: { id: organization, name: 'acme' },
      api_key: { id: record.id, name: 'laptop', expires_at: (start + 90 * day) / 1000 },
    })
    expect(await report(91)).toEqual([])
  })

  test('a key whose expiry is moved is an event again when the new one is near', async () => {
    const { create, report, keys } = await keyStore(open)
    const { record } = await create('laptop', 30)
    expect(await report(25)).toEqual(['laptop'])
    await keys(() => start).change(record.id, { expiresAt: start + 60 * day })
    expect(await report(26)).toEqual([])
    expect(await report(55)).toEqual(['laptop'])
  })

  test('keys that nobody needs to be reminded of are no event', async () => {
    const { create, report, keys, organizations } = await keyStore(open)
    await create('for five days', 5)
    const revoked = await create('revoked', 30)
    const rotated = await create('rotated', 30)
    await create('disabled', 30, { enabled: false })
    await keys(() => start).revoke(revoked.record.id)
    await keys(() => start).rotate(rotated.record.id, 20 * day)
    expect(await report(4)).toEqual([])
    // The successor of the rotated key, whose lifetime is the same.
    expect(await report(25)).toEqual(['rotated'])
    await create('of a deleted organization', 90)
    await organizations.beginDeletion('acme')
    expect(await report(85)).toEqual([])
  })

  test('many keys are reported in several steps', async () => {
    const { create, report } = await keyStore(open)
    for (let index = 0; index < 130; index++) await create(`key ${index}`, 30)
    expect(await report(29)).toHaveLength(130)
  })
})

test('SQLite finds the keys that expire soon by an index', () => {
  const { database } = testStorage()
  const plans = plansOf(database, (reading) => reading.run(reportExpiringKeys(start)))
  const plan = [...plans].find(([text]) => text.includes('expiry_notified'))?.[1]
  expect(plan).toContain('SEARCH api_keys USING INDEX api_keys_expiring')
  expect(plan).not.toContain('TEMP B-TREE')
})

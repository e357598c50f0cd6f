import { expect, test } from 'bun:test'
import { timeOf } from '../../../src/lib/id.ts'
import type { LedgerEntry } from '../../../src/storage/ports/ledger-entries.ts'
import { expectConsistent, fundedStore, requestOf } from './support/ledger-fixture.ts'
import { type OpenStore, testStores } from './support/stores.ts'

/** An organization with a credit, nine charges and a correction, in this order, and one with rows of its own. */
async function filledStore(open: OpenStore) {
  const { store, ledger, organizations, acme, reservation } = await fundedStore(open, 10n ** 15n + 1n)
  const other = await organizations.create('other')
  await organizations.credit('other', 7n, 'not of acme')
  const charge = async (organization: string, cost: bigint) => {
    const request = { ...requestOf(organization), createdAt: 1000 }
    await ledger.reserve(reservation(cost, request))
    await ledger.settle(request, { status: 200, cost })
    return request.id
  }
  const charged: string[] = []
  for (let cost = 1n; cost < 10n; cost++) charged.push(await charge(acme.id, cost))
  await charge(other.id, 3n)
  await organizations.credit('acme', -100n, 'correction, “of 7”')
  const list = async (query = {}, maxNewer?: number) =>
    store.ledgerEntries(maxNewer).page({ organization: acme.id, limit: 100, ...query })
  return { store, acme, other, organizations, charged, charge, list }
}

const amountsOf = (items: readonly LedgerEntry[]) => items.map(({ amount }) => amount)
const balancesOf = (items: readonly LedgerEntry[]) => items.map(({ balance }) => balance)

testStores((open) => {
  test('a ledger has every change of a balance, the newest first, with the balance after it', async () => {
    const { charged, list } = await filledStore(open)
    const { items, hasMore, balance } = await list()
    expect(hasMore).toBe(false)
    expect(amountsOf(items)).toEqual([-100n, -9n, -8n, -7n, -6n, -5n, -4n, -3n, -2n, -1n, 10n ** 15n + 1n])
    expect(items.map(({ request }) => request)).toEqual([null, ...charged.toReversed(), null])
    expect(items[0]).toMatchObject({ kind: 'credit', note: 'correction, “of 7”' })
    expect(items[1]).toMatchObject({ kind: 'charge', note: null })
    expect(balance).toBe(10n ** 15n + 1n - 145n)
    const sums = items.map((_, index) => amountsOf(items.slice(index)).reduce((sum, amount) => sum + amount))
    expect(balancesOf(items)).toEqual(sums)
    expect(sums[0]).toBe(balance)
  })

  test('the sum of a ledger is the balance to the last digit, also when the usage rows have expired', async () => {
    const { store, acme, other, list } = await filledStore(open)
    while ((await store.usage.expire(2000)) > 0);
    expect(await store.rows('SELECT id FROM usage')).toEqual([])
    const balance = 10n ** 15n - 144n
    expect(await store.ledgerEntries().sum(acme.id)).toEqual({ entries: 11, sum: balance, balance })
    expect(await store.ledgerEntries().sum(other.id)).toEqual({ entries: 2, sum: 4n, balance: 4n })
    expect((await list()).items).toHaveLength(11)
    await expectConsistent(store)
  })

  test('the pages of a ledger are its parts, with the same balances', async () => {
    const { list, store, acme } = await filledStore(open)
    const whole = (await list()).items
    const found: LedgerEntry[] = []
    for (let after: string | undefined, hasMore = true; hasMore; after = found.at(-1)?.id) {
      const page = await list({ after, limit: 4 })
      found.push(...page.items)
      hasMore = page.hasMore
    }
    expect(found).toEqual([...whole])
    const pieces = store.ledgerEntries().pieces({ organization: acme.id, limit: 9 })
    expect((await Array.fromAsync(pieces)).flat()).toEqual(whole.slice(0, 9))
    expect(await list({ after: whole.at(-1)?.id })).toEqual({
      items: [],
      hasMore: false,
      balance: 10n ** 15n - 144n,
    })
  })

  test('a page after too many newer entries has no balances, and neither has one of a single kind', async () => {
    const { list } = await filledStore(open)
    const [, , third] = (await list()).items
    const after = third?.id
    expect(balancesOf((await list({ after, limit: 1 }, 3)).items)).toEqual([10n ** 15n + 1n - 28n])
    expect(balancesOf((await list({ after, limit: 1 }, 2)).items)).toEqual([null])
    const credits = (await list({ kind: 'credit' })).items
    expect(amountsOf(credits)).toEqual([-100n, 10n ** 15n + 1n])
    expect(balancesOf(credits)).toEqual([null, null])
    expect((await list({ kind: 'charge', limit: 2 })).items).toHaveLength(2)
  })

  test('a period has the entries of its times, which are those of their ids', async () => {
    const { list } = await filledStore(open)
    const { items } = await list()
    for (const { id, createdAt } of items) expect(createdAt).toBe(timeOf(id))
    const [first, last] = [items.at(-1)?.createdAt ?? 0, items[0]?.createdAt ?? 0]
    expect((await list({ since: first, until: last + 1 })).items).toEqual([...items])
    const until = (await list({ until: last })).items
    expect(until).toEqual(items.filter(({ createdAt }) => createdAt < last))
    expect((await list({ since: last })).items).toEqual(items.filter(({ createdAt }) => createdAt >= last))
    expect((await list({ since: last + 1 })).items).toEqual([])
    expect((await list({ since: -1e15, until: 9e15 })).items).toHaveLength(11)
  })

  test('a deleted organization has no ledger, and another one keeps its own', async () => {
    const { store, organizations, other, list } = await filledStore(open)
    await organizations.delete('acme')
    expect(await list()).toEqual({ items: [], hasMore: false, balance: 0n })
    expect(amountsOf((await list({ organization: other.id })).items)).toEqual([-3n, 7n])
    expect(await store.rows('SELECT id FROM ledger')).toHaveLength(2)
  })
})

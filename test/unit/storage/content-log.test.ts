import { expect, test } from 'bun:test'
import type { Outcome } from '../../../src/domain/accounting/request-metadata.ts'
import { stepBytes } from '../../../src/storage/common/store-limits.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testActor } from '../../support/actor.ts'
import { countOf, fundedStore, requestOf } from './support/ledger-fixture.ts'
import { testStores } from './support/stores.ts'

const content = JSON.stringify({ request: { input: 'nul \0 and half \ud800' }, response: null, error: null })
const outcome: Outcome = { status: 200, content }

testStores((open) => {
  test('the content of a request is written with its usage, reserved or not, and only once', async () => {
    const { store, ledger, acme, reservation } = await fundedStore(open, 1_000n)
    const [plain, reserved] = [requestOf(acme.id), reservation(10n)]
    await ledger.reserve(reserved)
    await ledger.settle(reserved.request, { ...outcome, cost: 3n })
    await ledger.settle(reserved.request, { ...outcome, content: '{"request":"another"}' })
    await ledger.recordUsage(plain, outcome)
    await ledger.settle(requestOf(acme.id), { status: 200 })
    // A row without a reservation is written a moment later.
    await waitUntil(async () => (await countOf(store, 'usage')) === 3, 'all usage is written')
    for (const { id } of [plain, reserved.request]) expect(await store.readContent(id)).toBe(content)
    expect(await countOf(store, 'content_log')).toBe(2)
    expect(await store.readContent('req_none')).toBeUndefined()
  })

  test('who reads content has an entry each time, and nobody reads it without', async () => {
    const { store, ledger, acme } = await fundedStore(open, 0n)
    const request = requestOf(acme.id)
    await ledger.settle(request, outcome)
    await ledger.settle(requestOf(acme.id), { status: 200 })
    const entries = async () =>
      (await store.audit.page({ order: 'asc', limit: 9, events: ['content.read'] }))?.items ?? []
    expect(await store.readContent('req_none')).toBeUndefined()
    expect(await entries()).toEqual([])
    await store.readContent(request.id)
    await store.readContent(request.id)
    const entry = {
      actor: testActor,
      resource: { type: 'request', id: request.id, name: null },
      organizationId: acme.id,
      organization: 'acme',
      before: null,
      after: null,
    }
    expect(await entries()).toMatchObject([entry, entry])
    await store.rows('ALTER TABLE audit_entries RENAME TO gone')
    await expect(store.readContent(request.id)).rejects.toThrow()
  })

  test('a request of a deleted organization has no content', async () => {
    const { store, ledger, organizations, acme } = await fundedStore(open, 0n)
    const request = requestOf(acme.id)
    await ledger.settle(request, outcome)
    await organizations.beginDeletion('acme')
    await ledger.settle(requestOf(acme.id), outcome)
    expect(await store.readContent(request.id)).toBeUndefined()
    expect(await countOf(store, 'content_log')).toBe(1)
    await organizations.delete('acme')
    expect(await countOf(store, 'content_log')).toBe(0)
  })

  test('content is deleted by its age in small steps, and before the usage of its request', async () => {
    const { store, ledger, acme } = await fundedStore(open, 0n)
    const large = { status: 200, content: JSON.stringify('x'.repeat(stepBytes / 3)) }
    const request = (createdAt: number) => ({ ...requestOf(acme.id), createdAt })
    for (const createdAt of [1, 2, 3, 4, 5]) await ledger.settle(request(createdAt), large)
    expect(await store.usage.expireContent(5)).toBe(2)
    expect(await store.usage.expireContent(5)).toBe(2)
    expect(await store.usage.expireContent(5)).toBe(0)
    expect([await countOf(store, 'content_log'), await countOf(store, 'usage')]).toEqual([1, 5])
    expect(await store.usage.expire(6)).toBe(1)
    expect([await countOf(store, 'content_log'), await countOf(store, 'usage')]).toEqual([0, 5])
    expect(await store.usage.expire(6)).toBe(5)
    expect(await countOf(store, 'usage')).toBe(0)
  })

  test('a key has no content log unless it is switched on, a rotation keeps it, and created keys follow', async () => {
    const { store, organizations } = await fundedStore(open, 0n)
    await organizations.change('acme', { name: 'acme' })
    const keys = store.keys()
    const isOn = async (id: string) => (await keys.find(id))?.contentLog
    const input = { organization: 'acme', name: 'agents', expiresAt: null, budget: 100n }
    const { record: parent } = await keys.create({ ...input, permissions: ['mint'] })
    const mint = async () =>
      (await keys.mint(parent.id, { name: 'run', expiresAt: Date.now() + 60_000, budget: 1n })).record.id
    const first = await mint()
    expect([parent.contentLog, await isOn(first)]).toEqual([false, false])
    await keys.change(parent.id, { contentLog: true })
    const second = await mint()
    expect([await isOn(parent.id), await isOn(first), await isOn(second)]).toEqual([true, true, true])
    expect((await store.keyDirectory().find(second))?.contentLog).toBe(true)
    const { record: rotated } = await keys.rotate(parent.id, 60_000)
    expect(rotated.contentLog).toBe(true)
    await keys.change(parent.id, { note: 'unrelated' })
    expect(await isOn(second)).toBe(true)
    await keys.change(parent.id, { contentLog: false })
    expect([await isOn(first), await isOn(second), await isOn(rotated.id)]).toEqual([false, false, true])
  })

  test('each key that follows has an entry of its own, and one that had expired follows when it is extended', async () => {
    const { store } = await fundedStore(open, 0n)
    let now = 1000
    const keys = store.keys(() => now)
    const input = { organization: 'acme', name: 'agents', expiresAt: null, budget: 100n }
    const { record: parent } = await keys.create({ ...input, permissions: ['mint'] })
    const mint = async (expiresAt: number) =>
      (await keys.mint(parent.id, { name: 'run', expiresAt, budget: 1n })).record.id
    const [open1, open2, ended, revoked] = [
      await mint(9000),
      await mint(9000),
      await mint(1500),
      await mint(9000),
    ]
    await keys.change(open2, { contentLog: true })
    await keys.revoke(revoked)
    now = 2000
    const [last] = (await store.audit.page({ order: 'desc', limit: 1 }))?.items ?? []
    await keys.change(parent.id, { contentLog: true })
    const page = await store.audit.page({ order: 'asc', limit: 100, after: last?.id })
    const change = { event: 'api_key.updated', before: { content_log: false }, after: { content_log: true } }
    expect(page?.items).toMatchObject([parent.id, open1].map((id) => ({ ...change, resource: { id } })))
    const isOn = async (id: string) => (await keys.find(id))?.contentLog
    expect([await isOn(open2), await isOn(ended), await isOn(revoked)]).toEqual([true, false, false])
    expect((await keys.change(ended, { expiresAt: 9000 })).contentLog).toBe(true)
    await keys.change(open2, { contentLog: false })
    await keys.change(parent.id, { contentLog: true })
    expect(await isOn(open2)).toBe(false)
    await keys.change(parent.id, { contentLog: false })
    expect([await isOn(open1), await isOn(open2), await isOn(ended)]).toEqual([false, false, false])
  })
})

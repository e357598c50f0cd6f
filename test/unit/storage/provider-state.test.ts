import { expect, test } from 'bun:test'
import { maxSwept } from '../../../src/storage/sqlite/provider-state.ts'
import { type OpenStore, testStores, valuesOf } from './support/stores.ts'

async function startStorage(open: OpenStore) {
  const store = await open()
  const { organizations } = store
  const [acme, other] = [await organizations.create('acme'), await organizations.create('other')]
  const clock = { now: 1000 }
  const state = store.providerState(() => clock.now)
  const kept = {
    organization: acme.id,
    callId: 'call_1',
    provider: 'gemini',
    value: 'signed',
    expiresAt: 2000,
  }
  const count = async () => (await valuesOf(store, 'SELECT count(*) FROM provider_state'))[0]
  return { organizations, acme, other, clock, state, kept, count }
}

testStores((open) => {
  const storage = () => startStorage(open)

  test('provider state is found by its call, unchanged', async () => {
    const { state, kept, acme } = await storage()
    const values = { call_1: { signature: 'é\u0000"', parts: [1, null] }, call_2: 'text', call_3: null }
    for (const [callId, value] of Object.entries(values)) await state.store({ ...kept, callId, value })
    const found = await state.find(acme.id, 'gemini', ['call_1', 'call_2', 'call_3', 'call_4'])
    expect(Object.fromEntries(found)).toEqual(values)
  })

  test('a later provider state replaces the earlier one of the same call', async () => {
    const { state, kept, acme, count } = await storage()
    await state.store(kept)
    await state.store({ ...kept, value: 'again', expiresAt: 3000 })
    expect([...(await state.find(acme.id, 'gemini', ['call_1']))]).toEqual([['call_1', 'again']])
    expect(await count()).toEqual([1])
  })

  test('provider state is not found for another organization, provider or call', async () => {
    const { state, kept, acme, other } = await storage()
    await state.store(kept)
    expect((await state.find(other.id, 'gemini', ['call_1'])).size).toBe(0)
    expect((await state.find(acme.id, 'vertex', ['call_1'])).size).toBe(0)
    expect((await state.find(acme.id, 'gemini', ['call_2', "call_1' OR 1=1 --"])).size).toBe(0)
    expect((await state.find(acme.id, 'gemini', [])).size).toBe(0)
  })

  test('the provider state of thousands of calls is found at once', async () => {
    const { state, kept, acme } = await storage()
    const callIds = Array.from({ length: 3000 }, (_, index) => `call_${index}`)
    await Promise.all(callIds.map((callId) => state.store({ ...kept, callId })))
    expect((await state.find(acme.id, 'gemini', callIds)).size).toBe(3000)
  })

  test('expired provider state is not found, swept or not, and a sweep keeps the rest', async () => {
    const { state, kept, acme, clock, count } = await storage()
    await state.store(kept)
    await state.store({ ...kept, callId: 'call_2', expiresAt: 5000 })
    clock.now = 2000
    expect([...(await state.find(acme.id, 'gemini', ['call_1', 'call_2'])).keys()]).toEqual(['call_2'])
    expect(await state.deleteExpired()).toBe(1)
    expect(await state.deleteExpired()).toBe(0)
    expect(await count()).toEqual([1])
  })

  test('a sweep of provider state deletes a bounded number of rows', async () => {
    const { state, kept, clock } = await storage()
    const callIds = Array.from({ length: maxSwept + 3 }, (_, index) => `call_${index}`)
    await Promise.all(callIds.map((callId) => state.store({ ...kept, callId })))
    clock.now = 9000
    expect([await state.deleteExpired(), await state.deleteExpired(), await state.deleteExpired()]).toEqual([
      maxSwept,
      3,
      0,
    ])
  })

  test('the provider state of a deleted organization is gone, and no more is stored for it', async () => {
    const { state, kept, organizations, count } = await storage()
    await state.store(kept)
    await organizations.delete('acme')
    expect(await count()).toEqual([0])
    await state.store(kept)
    expect(await count()).toEqual([0])
  })
})

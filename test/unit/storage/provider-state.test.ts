import { expect, test } from 'bun:test'
import { maxSwept } from '../../../src/storage/scripts/provider-state.ts'
import { type OpenStore, testStores, valuesOf } from './support/stores.ts'

const unbounded = { maxBytes: Number.MAX_SAFE_INTEGER, acquireMemory: () => {} }

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
  /** The values of these calls, by their ids. */
  const find = async (organization: string, provider: string, callIds: readonly string[]) => {
    const found = await state.find({ ...unbounded, organization, providers: [provider], callIds })
    expect(found.truncated).toBe(false)
    return new Map([...found.states].map(([callId, { value }]) => [callId, value]))
  }
  const count = async () => (await valuesOf(store, 'SELECT count(*) FROM provider_state'))[0]
  return { organizations, acme, other, clock, state, kept, find, count }
}

testStores((open) => {
  const storage = () => startStorage(open)

  test('provider state is found by its call, unchanged', async () => {
    const { state, find, kept, acme } = await storage()
    const values = { call_1: { signature: 'é\u0000"', parts: [1, null] }, call_2: 'text', call_3: null }
    for (const [callId, value] of Object.entries(values)) await state.store({ ...kept, callId, value })
    const found = await find(acme.id, 'gemini', ['call_1', 'call_2', 'call_3', 'call_4'])
    expect(Object.fromEntries(found)).toEqual(values)
  })

  test('a later provider state replaces the earlier one of the same call', async () => {
    const { state, find, kept, acme, count } = await storage()
    await state.store(kept)
    await state.store({ ...kept, value: 'again', expiresAt: 3000 })
    expect([...(await find(acme.id, 'gemini', ['call_1']))]).toEqual([['call_1', 'again']])
    expect(await count()).toEqual([1])
  })

  test('provider state is not found for another organization, provider or call', async () => {
    const { state, find, kept, acme, other } = await storage()
    await state.store(kept)
    expect((await find(other.id, 'gemini', ['call_1'])).size).toBe(0)
    expect((await find(acme.id, 'vertex', ['call_1'])).size).toBe(0)
    expect((await find(acme.id, 'gemini', ['call_2', "call_1' OR 1=1 --"])).size).toBe(0)
    expect((await find(acme.id, 'gemini', [])).size).toBe(0)
  })

  test('provider state is read from the last call on, as far as it fits, and its memory is acquired', async () => {
    const { state, kept, acme } = await storage()
    // As JSON, in UTF-8: 4, 6 and 8 bytes.
    for (const [callId, value] of [
      ['call_1', 'ab'],
      ['call_2', 'éé'],
      ['call_3', 'abcdef'],
    ] as const)
      await state.store({ ...kept, callId, value })
    const callIds = ['call_1', 'call_2', 'call_3']
    const acquired: number[] = []
    const findWithin = async (maxBytes: number, providers = ['gemini']) => {
      const acquireMemory = (bytes: number) => void acquired.push(bytes)
      const query = { organization: acme.id, providers, callIds, maxBytes, acquireMemory }
      const { states, truncated } = await state.find(query)
      return [[...states.keys()].toSorted(), truncated]
    }
    expect(await findWithin(18)).toEqual([callIds, false])
    acquired.length = 0
    expect(await findWithin(17)).toEqual([['call_2', 'call_3'], true])
    expect(acquired.toSorted()).toEqual([4, 8])
    // A smaller one before one that does not fit is not read either: it would be of no use without what follows.
    expect(await findWithin(13)).toEqual([['call_3'], true])
    expect(await findWithin(7)).toEqual([[], true])
    await state.store({ ...kept, callId: 'call_3', provider: 'vertex', value: 'abcdef' })
    expect(await findWithin(10)).toEqual([['call_1', 'call_2'], false])
    expect(await findWithin(14, ['vertex', 'gemini'])).toEqual([['call_2', 'call_3'], true])
  })

  test('the provider state of thousands of calls is found at once', async () => {
    const { state, find, kept, acme } = await storage()
    const callIds = Array.from({ length: 3000 }, (_, index) => `call_${index}`)
    await Promise.all(callIds.map((callId) => state.store({ ...kept, callId })))
    expect((await find(acme.id, 'gemini', callIds)).size).toBe(3000)
  })

  test('expired provider state is not found, swept or not, and a sweep keeps the rest', async () => {
    const { state, find, kept, acme, clock, count } = await storage()
    await state.store(kept)
    await state.store({ ...kept, callId: 'call_2', expiresAt: 5000 })
    clock.now = 2000
    expect([...(await find(acme.id, 'gemini', ['call_1', 'call_2'])).keys()]).toEqual(['call_2'])
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

import { expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { responseStore } from './support/response-fixture.ts'
import { testSharedStores, valuesOf } from './support/stores.ts'

/** Two processes that share a store, which erase what is removed after this time. */
const delayMs = 2000

testSharedStores((open) => {
  async function start() {
    const store = await open()
    const fixture = await responseStore(async () => store)
    const [one, other] = [store.delayedResponses(delayMs), store.delayedResponses(delayMs)]
    return { ...fixture, one, other, patient: store.delayedResponses(3_600_000) }
  }

  test('a removed response is hidden at once, and erased after a while', async () => {
    const { one, other, patient, acme, answered, rows, store } = await start()
    const [hidden, id] = [await answered(), await answered()]
    expect(await patient.remove(acme, hidden)).toBe('removed')
    expect(await one.remove(acme, id)).toBe('removed')
    for (const removed of [hidden, id]) {
      expect(await other.find(acme, removed)).toBeUndefined()
      expect(await other.remove(acme, removed)).toBe('missing')
    }
    await waitUntil(async () => !(await rows()).includes(id), 'it is erased')
    expect(await rows()).toEqual([hidden])
    expect(await valuesOf(store, 'SELECT response_id FROM response_erasures')).toEqual([[hidden]])
  })

  test('a response that another process has pinned is not erased while that postpones it', async () => {
    const { one, other, acme, answered, rows } = await start()
    const id = await answered()
    const unpin = other.pin(id)
    await one.remove(acme, id)
    for (let beat = 0; beat < 6; beat++) {
      await other.postponeErasures()
      await Bun.sleep(delayMs / 3)
    }
    expect(await rows()).toEqual([id])
    const next = await answered(id)
    unpin()
    await other.postponeErasures()
    await Bun.sleep(2 * delayMs)
    expect(await rows()).toEqual([id, next])
    expect(await one.chain(acme, next)).toHaveLength(2)
    await one.remove(acme, next)
    await waitUntil(async () => (await rows()).length === 0, 'both are erased')
  })

  test('a response whose erasure is postponed is not erased with the last one that continues it', async () => {
    const { one, other, acme, answered, rows } = await start()
    const first = await answered()
    const second = await answered(first)
    await one.remove(acme, second)
    const unpin = other.pin(first)
    await Bun.sleep((2 * delayMs) / 3)
    await one.remove(acme, first)
    const isErased = async () => {
      await other.postponeErasures()
      return !(await rows()).includes(second)
    }
    await waitUntil(isErased, 'the second is erased')
    expect(await rows()).toEqual([first])
    unpin()
    await waitUntil(async () => (await rows()).length === 0, 'the first is erased')
  })

  test('expired responses are hidden, and erased after a while', async () => {
    const { one, other, acme, answered, rows } = await start()
    const ids = [await answered(), await answered()]
    const unpin = other.pin(ids[0] ?? '')
    expect(await one.expire(Date.now() + 1000)).toBe(2)
    expect(await one.expire(Date.now() + 1000)).toBe(0)
    expect(await other.find(acme, ids[0] ?? '')).toBeUndefined()
    await other.postponeErasures()
    expect(await rows()).toEqual(ids)
    unpin()
    await waitUntil(async () => (await rows()).length === 0, 'both are erased')
  })
})

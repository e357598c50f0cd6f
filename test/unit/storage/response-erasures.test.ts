import { expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { responseStore } from './support/response-fixture.ts'
import { testSharedStores, valuesOf } from './support/stores.ts'

/** Milliseconds. */
const hour = 3_600_000

testSharedStores((open) => {
  /** Two processes that share a store, and erase what is removed after this time. */
  async function start(delayMs: number) {
    const store = await open()
    const fixture = await responseStore(async () => store)
    const [one, other] = [store.delayedResponses(delayMs), store.delayedResponses(delayMs)]
    /** Erases what is due. */
    const erase = async () => {
      while ((await one.expire(0)) > 0);
    }
    return {
      ...fixture,
      one,
      other,
      patient: store.delayedResponses(hour),
      /** As if the time had passed. */
      elapse: (ms = 2 * hour) => store.rows(`UPDATE response_erasures SET not_before = not_before - ${ms}`),
      erase,
      /** Erases what is due until only these are left: what the background erases at the same time is locked. */
      eraseAllBut: (...ids: readonly string[]) =>
        waitUntil(async () => {
          await erase()
          return Bun.deepEquals(await fixture.rows(), ids)
        }, 'the others are erased'),
    }
  }

  test('a removed response is hidden at once, and erased after a while', async () => {
    const { one, other, patient, acme, answered, rows, store } = await start(300)
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
    const { one, other, acme, answered, rows, elapse, erase, eraseAllBut } = await start(hour)
    const id = await answered()
    const unpin = other.pin(id)
    await one.remove(acme, id)
    // It is never due: the background may still be erasing what is.
    for (let beat = 0; beat < 3; beat++) {
      await elapse(0.75 * hour)
      await other.postponeErasures()
      await erase()
    }
    expect(await rows()).toEqual([id])
    const next = await answered(id)
    unpin()
    await other.postponeErasures()
    await elapse()
    await erase()
    expect(await rows()).toEqual([id, next])
    expect(await one.chain(acme, next)).toHaveLength(2)
    await one.remove(acme, next)
    await elapse()
    await eraseAllBut()
  })

  test('a response whose erasure is postponed is not erased with the last one that continues it', async () => {
    const { one, other, acme, answered, elapse, eraseAllBut } = await start(hour)
    const first = await answered()
    const second = await answered(first)
    const unpin = other.pin(first)
    for (const id of [second, first]) await one.remove(acme, id)
    await elapse()
    await other.postponeErasures()
    await eraseAllBut(first)
    unpin()
    await elapse()
    await eraseAllBut()
  })

  test('expired responses are hidden, and erased after a while', async () => {
    const { one, other, acme, answered, rows } = await start(2000)
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

import { expect, test } from 'bun:test'
import { LeasedSlots } from '../../../src/storage/postgres/cluster/leased-slots.ts'

/** Slots of which one is used, one more is on its way for the request that waits, and a third request has just come. */
async function slotsInExchange() {
  const slots = new LeasedSlots('queued', 'acme', 100)
  const first = slots.take()
  const exchange = slots.prepare(true)
  const second = slots.take()
  expect(exchange?.exchange).toMatchObject({ needed: 1, spare: 1 })
  exchange?.receive({ held: 2, others: 0 })
  expect(await first).toBe(true)
  const running = slots.prepare(true)
  expect(running?.exchange).toMatchObject({ needed: 2 })
  return { slots, second, running }
}

test('a request whose slot was taken by a later one while it was exchanged gets the next one', async () => {
  const { slots, second, running } = await slotsInExchange()
  expect(slots.tryTake()).toBe(true)
  running?.receive({ held: 2, others: 0 })
  const next = slots.prepare(true)
  expect(next?.exchange).toMatchObject({ needed: 3 })
  next?.receive({ held: 3, others: 0 })
  expect(await second).toBe(true)
})

test('a request that the store refuses a slot is rejected', async () => {
  const { slots, second, running } = await slotsInExchange()
  expect(slots.tryTake()).toBe(true)
  running?.receive({ held: 1, others: 0 })
  expect(await second).toBe(false)
  expect(slots.prepare(true)?.exchange).toMatchObject({ needed: 2 })
})

import { expect, test } from 'bun:test'
import { LeasedSlots } from '../../../src/storage/postgres/cluster/leased-slots.ts'

/** Slots of which one is used, one more is on its way for the request that waits, and a third request has just come. */
async function slotsInExchange() {
  const slots = new LeasedSlots('queued', 'acme', 100)
  const first = slots.ask(1)
  expect(slots.begin(true)).toMatchObject({ needed: 1, spare: 1 })
  const second = slots.ask(1)
  slots.receive({ held: 2, others: 0 })
  expect(await first).toBe(true)
  expect(slots.begin(true)).toMatchObject({ needed: 2 })
  return { slots, second }
}

test('a request whose slot was taken by a later one while it was exchanged gets the next one', async () => {
  const { slots, second } = await slotsInExchange()
  expect(slots.tryTake()).toBe(true)
  slots.receive({ held: 2, others: 0 })
  expect(slots.isDue(true)).toBe(true)
  expect(slots.begin(true)).toMatchObject({ needed: 3 })
  slots.receive({ held: 3, others: 0 })
  expect(await second).toBe(true)
})

test('a request that the database refuses a slot is rejected', async () => {
  const { slots, second } = await slotsInExchange()
  expect(slots.tryTake()).toBe(true)
  slots.receive({ held: 1, others: 0 })
  expect(await second).toBe(false)
  expect(slots.begin(true)).toMatchObject({ needed: 2 })
})

import { expect, test } from 'bun:test'
import { LeasedSlots } from '../../../src/storage/postgres/cluster/leased-slots.ts'

/** Slots of which one is used, one more is on its way for the request that waits, and a third request has just come. */
async function slotsInRenewal() {
  const slots = new LeasedSlots('queued', 'acme', 100)
  const first = slots.ask(1)
  expect(slots.begin(true)).toMatchObject({ needed: 1, spare: 1 })
  const second = slots.ask(1)
  slots.receive({ held: 2, others: 0 })
  expect(await first).toBe(true)
  expect(slots.begin(true)).toMatchObject({ needed: 2 })
  return { slots, second }
}

test('a request whose slot was taken by a later one while it was renewed gets the next one', async () => {
  const { slots, second } = await slotsInRenewal()
  expect(slots.tryTake()).toBe(true)
  slots.receive({ held: 2, others: 0 })
  expect(slots.isDue(true)).toBe(true)
  expect(slots.begin(true)).toMatchObject({ needed: 3 })
  slots.receive({ held: 3, others: 0 })
  expect(await second).toBe(true)
})

test('a request that the database refuses a slot is rejected', async () => {
  const { slots, second } = await slotsInRenewal()
  expect(slots.tryTake()).toBe(true)
  slots.receive({ held: 1, others: 0 })
  expect(await second).toBe(false)
  expect(slots.begin(true)).toMatchObject({ needed: 2 })
})

/** Slots of a limit of 100, of which three are used and six are held. */
async function keptSlots(others: number): Promise<LeasedSlots> {
  const slots = new LeasedSlots('concurrent', 'acme', 100)
  const taken = [1, 2, 3, 4, 5, 6].map(() => slots.ask(1))
  slots.begin(true)
  slots.receive({ held: 6, others })
  await Promise.all(taken)
  for (let index = 0; index < 3; index++) slots.release()
  return slots
}

test('released slots are kept while many are free, and returned when they were not used for some ticks', async () => {
  const slots = await keptSlots(10)
  expect(slots.isUrgent()).toBe(false)
  const ticks = Array.from({ length: 10 }, () => slots.tick())
  expect(ticks.lastIndexOf(false)).toBe(8)
  expect(slots.begin(true)).toMatchObject({ needed: 3, spare: 0 })
})

test('released slots are returned at once while most are taken', async () => {
  const slots = await keptSlots(80)
  expect(slots.isUrgent()).toBe(true)
  expect(slots.begin(true)).toMatchObject({ needed: 3, spare: 0 })
})

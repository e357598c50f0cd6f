import { expect, test } from 'bun:test'
import { LeasedSlots } from '../../../src/storage/postgres/cluster/leased-slots.ts'

function slotsOf(limit: number): LeasedSlots {
  return new LeasedSlots({ organization: 'acme', kind: 'concurrent' }, limit)
}

/** Asks for a slot that is not there. */
function ask(slots: LeasedSlots): Promise<number> {
  expect(slots.take(1)).toBeUndefined()
  return slots.ask(1)
}

/** Slots of a limit of 10 of which two are used, and a renewal for a third request that runs. */
async function slotsInRenewal() {
  const slots = slotsOf(10)
  const first = [ask(slots), ask(slots)]
  expect(slots.begin()).toMatchObject({ held: 0, needs: [1, 1], ahead: 0 })
  slots.receive({ granted: [true, true], ahead: 0, spent: 2 })
  expect(await Promise.all(first)).toEqual([0, 0])
  const third = ask(slots)
  expect(slots.begin()).toMatchObject({ held: 2, needs: [1], ahead: 0 })
  return { slots, third }
}

test('a slot that is released while a renewal runs is there for the next request, and the granted one stays', async () => {
  const { slots, third } = await slotsInRenewal()
  slots.charge(-1)
  expect(slots.take(1)).toBe(0)
  slots.receive({ granted: [true], ahead: 0, spent: 3 })
  expect(await third).toBe(0)
  expect(slots.isDue()).toBe(false)
  slots.charge(-1)
  expect(slots.begin()).toMatchObject({ held: 2, needs: [] })
})

test('a request that the database refuses a slot is sent once more with the next tick, and then rejected', async () => {
  const { slots, third } = await slotsInRenewal()
  slots.receive({ granted: [false], ahead: 0, spent: 10 })
  expect(slots.isDue()).toBe(false)
  slots.tick()
  expect(slots.isDue()).toBe(true)
  expect(slots.begin()).toMatchObject({ held: 2, needs: [1] })
  slots.receive({ granted: [false], ahead: 0, spent: 10 })
  expect(await third).toBeGreaterThan(0)
  expect(slots.isDue()).toBe(false)
})

test('a request that was refused a slot gets the one that another request of the process releases', async () => {
  const { slots, third } = await slotsInRenewal()
  slots.receive({ granted: [false], ahead: 0, spent: 10 })
  slots.charge(-1)
  expect(await third).toBe(0)
})

test('a slot that is granted after the limit was lowered is not used but returned', async () => {
  const { slots, third } = await slotsInRenewal()
  slots.limit = 2
  slots.receive({ granted: [true], ahead: 0, spent: 3 })
  expect(await third).toBeGreaterThan(0)
  expect(slots.isUrgent()).toBe(true)
  expect(slots.begin()).toMatchObject({ limit: 2, held: 2, needs: [] })
})

test('a renewal that fails leaves the slots as they were', async () => {
  const { slots, third } = await slotsInRenewal()
  slots.fail(new Error('The database is down.'))
  await expect(third).rejects.toThrow('The database is down.')
  expect(slots.take(1)).toBeUndefined()
  slots.charge(-1)
  expect(slots.begin()).toMatchObject({ held: 1, needs: [] })
})

test('the slots of a process that was evicted are those that it uses', async () => {
  const { slots, third } = await slotsInRenewal()
  slots.receive({ granted: [true], ahead: 0, spent: 3 })
  await third
  slots.charge(-1)
  slots.forget()
  expect(slots.isDue()).toBe(true)
  expect(slots.begin()).toMatchObject({ held: 2, needs: [] })
  slots.receive({ granted: [], ahead: 0, spent: 2 })
  for (let index = 0; index < 2; index++) slots.charge(-1)
  expect(slots.begin()).toMatchObject({ held: 0 })
})

/** Slots of a limit of 100, of which three are used and six are held. */
async function keptSlots(others: number): Promise<LeasedSlots> {
  const slots = slotsOf(100)
  const taken = [1, 2, 3, 4, 5, 6].map(() => ask(slots))
  slots.begin()
  slots.receive({ granted: taken.map(() => true), ahead: 0, spent: 6 + others })
  await Promise.all(taken)
  for (let index = 0; index < 3; index++) slots.charge(-1)
  return slots
}

test('released slots are kept while many are free, and returned when they were not used for four ticks', async () => {
  const slots = await keptSlots(10)
  expect(slots.isUrgent()).toBe(false)
  const due = Array.from({ length: 8 }, () => {
    slots.tick()
    return slots.isDue()
  })
  expect(due.indexOf(true)).toBe(7)
  expect(slots.begin()).toMatchObject({ held: 3, ahead: 0 })
})

test('released slots are returned at once while most are taken', async () => {
  const slots = await keptSlots(80)
  expect(slots.isUrgent()).toBe(true)
  expect(slots.begin()).toMatchObject({ held: 3, ahead: 0 })
})

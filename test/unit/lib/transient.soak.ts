import { edenGC, fullGC, heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { TransientMap, notInSet, TransientSet } from '../../../src/lib/transient.ts'

const entries = 1000
/** How many are in a collection at once. */
const open = 16

/** How many of the objects that were added and deleted again survive a collection of young objects. */
function survivors(
  add: (key: string, value: Date) => void,
  remove: (key: string, value: Date) => void,
): number {
  const churn = () => {
    const added: [string, Date][] = []
    for (let index = 0; index < entries; index++) {
      const entry: [string, Date] = [`req_${index}`, new Date()]
      added.push(entry)
      add(...entry)
      if (added.length > open) remove(...(added.shift() as [string, Date]))
    }
    for (const entry of added) remove(...entry)
  }
  // What keeps objects alive is the table of the first time, which is old by the second.
  churn()
  fullGC()
  churn()
  edenGC()
  return heapStats().objectTypeCounts.Date ?? 0
}

describe('a map of entries that live as long as a request', () => {
  test('keeps no deleted value alive', () => {
    const map = new TransientMap<Date>()
    const survived = survivors(
      (key, value) => map.set(key, value),
      (key) => map.delete(key),
    )
    expect(map.size).toBe(0)
    expect(survived).toBeLessThan(entries / 10)
  })

  test('is necessary: a map of JavaScript keeps many of them', () => {
    const map = new Map<string, Date>()
    const survived = survivors(
      (key, value) => map.set(key, value),
      (key) => map.delete(key),
    )
    expect(survived).toBeGreaterThan(entries / 10)
  })
})

describe('a set of members that live as long as a request', () => {
  test('keeps no deleted member alive', () => {
    const set = new TransientSet<Date & { index: number }>()
    const survived = survivors(
      (_, value) => set.add(Object.assign(value, { index: notInSet })),
      (_, value) => set.delete(value as Date & { index: number }),
    )
    expect(set.size).toBe(0)
    expect(survived).toBeLessThan(entries / 10)
  })
})

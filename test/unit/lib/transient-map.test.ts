import { edenGC, fullGC, heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { TransientMap } from '../../../src/lib/transient-map.ts'

describe('a map of entries that live as long as a request', () => {
  test('has the last value of each key, in the order of the keys', () => {
    const map = new TransientMap<string, number>()
    for (const [key, value] of [
      ['b', 1],
      ['a', 2],
      ['c', 3],
    ] as const)
      map.set(key, value)
    map.set('b', 4)
    map.delete('a')
    map.delete('a')
    expect([...map.keys()]).toEqual(['b', 'c'])
    expect([...map.values()]).toEqual([4, 3])
    expect([map.size, map.get('b'), map.get('a')]).toEqual([2, 4, undefined])
  })

  test('keeps no deleted value alive until a full garbage collection', () => {
    const entries = 1000
    const map = new TransientMap<number, Date>()
    const churn = () => {
      for (let index = 0; index < entries; index++) {
        map.set(index, new Date())
        map.delete(index - 16)
      }
    }
    // What follows is collected as the table is old: a new one keeps nothing alive.
    churn()
    fullGC()
    churn()
    edenGC()
    expect(map.size).toBeGreaterThanOrEqual(16)
    expect(heapStats().objectTypeCounts.Date ?? 0).toBeWithin(16, entries / 10)
  })
})

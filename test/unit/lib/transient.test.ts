import { describe, expect, test } from 'bun:test'
import { TransientMap, notInSet, TransientSet } from '../../../src/lib/transient.ts'

describe('a map of entries that live as long as a request', () => {
  test('has the last value of each key, in the order of the keys', () => {
    const map = new TransientMap<number>()
    map.set('b', 1)
    map.set('a', 2)
    map.set('__proto__', 3)
    map.set('b', 0)
    map.delete('a')
    map.delete('a')
    map.delete('toString')
    expect(map.keys()).toEqual(['b', '__proto__'])
    expect(map.values()).toEqual([0, 3])
    expect([map.size, map.get('b'), map.get('a'), map.get('toString')]).toEqual([2, 0, undefined, undefined])
  })
})

describe('a set of members that live as long as a request', () => {
  test('has each member once, and those that are left after others were deleted', () => {
    const set = new TransientSet()
    const [first, second, third, other] = [
      { index: notInSet },
      { index: notInSet },
      { index: notInSet },
      { index: 0 },
    ]
    for (const member of [first, second, third, second]) set.add(member)
    expect([set.size, set.values()]).toEqual([3, [first, second, third]])
    for (const member of [first, first, other]) set.delete(member)
    expect(new Set(set.values())).toEqual(new Set([second, third]))
    for (const member of [third, second]) set.delete(member)
    expect([set.size, first.index, second.index, third.index]).toEqual([0, notInSet, notInSet, notInSet])
    set.add(first)
    expect(set.values()).toEqual([first])
  })
})

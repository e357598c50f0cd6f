import { expect, test } from 'bun:test'
import { RecentMap } from '../../../src/lib/recent-map.ts'

test('a full map drops the entry that was set longest ago', () => {
  const map = new RecentMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('c', 3)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ])
})

test('an entry that is set again is the newest, and no other is dropped for it', () => {
  const map = new RecentMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3)
  expect([...map.keys()]).toEqual(['b', 'a'])
  expect([...map.set('c', 4).keys()]).toEqual(['a', 'c'])
})

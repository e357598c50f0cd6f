import { expect, test } from 'bun:test'
import { nextTurn, ownTurn, Stopwatch } from '../../../src/lib/time.ts'

test('a stopwatch adds up its intervals, and not the time between them', () => {
  const times = [10, 25, 100, 101]
  const watch = new Stopwatch(() => times.shift() ?? Number.NaN)
  watch.start()
  watch.stop()
  watch.start()
  expect(watch.endedMs()).toBe(15)
  watch.stop()
  expect(watch.endedMs()).toBe(16)
})

test('a second start or stop changes nothing', () => {
  let time = 0
  const watch = new Stopwatch(() => time)
  watch.stop()
  watch.start()
  time = 3
  watch.start()
  time = 5
  watch.stop()
  time = 9
  watch.stop()
  expect(watch.endedMs()).toBe(5)
})

test('the running interval is included only on request', () => {
  let time = 10
  const watch = new Stopwatch(() => time)
  watch.start()
  time = 14
  expect(watch.endedMs()).toBe(0)
  expect(watch.elapsedMs()).toBe(4)
  watch.stop()
  time = 20
  expect(watch.elapsedMs()).toBe(4)
})

test('pieces of work in several places get a turn of the event loop each, one after the other', async () => {
  const done: string[] = []
  const work = async (name: string) => {
    for (let piece = 0; piece < 3; piece++) {
      await ownTurn()
      done.push(name)
    }
  }
  const all = Promise.all([work('a'), work('b')])
  const perTurn: number[] = []
  for (let before = 0; done.length < 6; before = done.length) {
    await nextTurn()
    perTurn.push(done.length - before)
  }
  await all
  expect(Math.max(...perTurn)).toBe(1)
  expect(done).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
})

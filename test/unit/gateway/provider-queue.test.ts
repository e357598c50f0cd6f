import { expect, test } from 'bun:test'
import { ProviderQueue, type Waiter } from '../../../src/gateway/routing/provider-queue.ts'

const limits = { concurrency: 1, waitMs: 1000, length: 8 }

/** A queue, and what has happened to the calls in it: the order of their turns, and who lost its place. */
function observe(concurrency = 1, length = 8) {
  const queue = new ProviderQueue({ ...limits, concurrency, length })
  const turns: string[] = []
  const displaced: string[] = []
  const releases = new Map<string, () => void>()
  const enter = (name: string, background = false): boolean =>
    queue.enter({
      key: name[0] ?? '',
      background,
      admit(_, release) {
        turns.push(name)
        releases.set(name, release)
      },
      displace: () => void displaced.push(name),
    })
  return { queue, turns, displaced, releases, enter }
}

/** Frees the slot of the last turn until nobody waits. */
function serveAll({ queue, turns, releases }: ReturnType<typeof observe>, first: () => void): void {
  first()
  while (queue.waiting > 0) releases.get(turns.at(-1) ?? '')?.()
}

test.each([
  ['keys take turns', ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'], 'a1 b1 c1 a2 b2 a3 a4'],
  ['one key alone is served in order', ['a1', 'a2', 'a3'], 'a1 a2 a3'],
  [
    'a key that comes late waits for one turn of each other',
    ['a1', 'a2', 'b1', 'b2', 'c1'],
    'a1 b1 c1 a2 b2',
  ],
])('in the queue of a provider, %s', (_, names, expected) => {
  const observed = observe()
  const release = observed.queue.tryAcquire('x')
  for (const name of names) expect(observed.enter(name)).toBe(true)
  serveAll(observed, release!)
  expect(observed.turns.join(' ')).toBe(expected)
})

test('background runs come after all calls with a caller', () => {
  const observed = observe()
  const release = observed.queue.tryAcquire('x')
  observed.enter('a1', true)
  for (const name of ['b1', 'b2']) observed.enter(name)
  serveAll(observed, release!)
  expect(observed.turns).toEqual(['b1', 'b2', 'a1'])
})

test('a free slot goes to the key that has the fewest, however long its calls take', () => {
  const { queue, turns, enter } = observe(4)
  const releases = ['a', 'a', 'a', 'b'].map((key) => queue.tryAcquire(key))
  expect(queue.tryAcquire('c')).toBeUndefined()
  for (const name of ['a1', 'b1', 'c1']) enter(name)
  for (const release of releases.slice(0, 3)) release?.()
  expect([turns, queue.inUse, queue.waiting]).toEqual([['c1', 'a1', 'b1'], 4, 0])
})

test('a slot that is released twice is free once', () => {
  const { queue } = observe(2)
  const release = queue.tryAcquire('a')
  queue.tryAcquire('a')
  release?.()
  release?.()
  expect([queue.inUse, queue.tryAcquire('a') !== undefined, queue.tryAcquire('a')]).toEqual([
    1,
    true,
    undefined,
  ])
})

test('in a full queue a key with fewer calls takes the last place of the key with the most', () => {
  const observed = observe(1, 4)
  const { queue, displaced, enter } = observed
  const release = queue.tryAcquire('x')
  for (const name of ['a1', 'a2', 'a3', 'a4']) expect(enter(name)).toBe(true)
  expect([enter('a5'), enter('b1'), enter('b2'), enter('b3'), displaced]).toEqual([
    false,
    true,
    true,
    false,
    ['a4', 'a3'],
  ])
  serveAll(observed, release!)
  expect(observed.turns).toEqual(['a1', 'b1', 'a2', 'b2'])
})

test('a call that leaves the queue has no turn', () => {
  const { queue, turns, enter } = observe()
  const release = queue.tryAcquire('x')
  const leaving: Waiter = { key: 'a', background: false, admit: () => turns.push('left'), displace() {} }
  queue.enter(leaving)
  enter('a1')
  queue.leave(leaving)
  release?.()
  expect([turns, queue.waiting]).toEqual([['a1'], 0])
})

test('a higher limit admits calls that wait, and a lower one takes no slot away', () => {
  const { queue, turns, releases, enter } = observe()
  queue.tryAcquire('x')
  for (const name of ['a1', 'a2', 'a3']) enter(name)
  queue.setLimits({ ...limits, concurrency: 3 })
  expect([turns, queue.inUse]).toEqual([['a1', 'a2'], 3])
  queue.setLimits({ ...limits, concurrency: 1 })
  releases.get('a1')?.()
  expect([turns.length, queue.inUse]).toEqual([2, 2])
})

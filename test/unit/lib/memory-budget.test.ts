import { describe, expect, test } from 'bun:test'
import { testSeed } from '../../support/seed.ts'
import { MemoryBudget, maxWaiting } from '../../../src/lib/memory-budget.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'

function budget(maxBytes: number) {
  const memory = new MemoryBudget(() => maxBytes)
  return { memory, acme: () => memory.lease('acme'), other: () => memory.lease('other') }
}

test('a lease returns its bytes once, however often it is released', () => {
  const { memory, acme } = budget(100)
  const lease = acme()
  lease.acquire(30)
  lease.releaseBytes(10)
  expect([memory.held, lease.held]).toEqual([20, 20])
  lease.release()
  lease.release()
  expect(memory.held).toBe(0)
  expect(lease.tryAcquire(1)).toBe(false)
  expect(memory.held).toBe(0)
})

test('a lease beyond the budget is rejected with 503, and takes nothing', () => {
  const { memory, acme, other } = budget(100)
  acme().acquire(50)
  other().acquire(40)
  const lease = memory.lease('third')
  expect(() => lease.acquire(11)).toThrow('memory limit for open requests is reached')
  expect(memory.held).toBe(90)
  lease.acquire(10)
  expect(memory.held).toBe(100)
})

test('one organization holds at most half of the budget', () => {
  const { acme, other } = budget(100)
  acme().acquire(40)
  expect(acme().tryAcquire(11)).toBe(false)
  expect(acme().tryAcquire(10)).toBe(true)
  expect(other().tryAcquire(50)).toBe(true)
})

test('the only lease may exceed the budget, and grow', () => {
  const { memory, acme } = budget(100)
  const lease = acme()
  expect(lease.tryAcquire(150)).toBe(true)
  expect(lease.tryAcquire(50)).toBe(true)
  expect(acme().tryAcquire(1)).toBe(false)
  lease.release()
  expect(memory.held).toBe(0)
})

test('a lease takes the missing bytes up to a size', () => {
  const { memory, acme } = budget(100)
  const lease = acme()
  lease.acquire(30)
  lease.acquireUpTo(20)
  lease.acquireUpTo(50)
  expect(memory.held).toBe(50)
})

test('the sum of all leases equals the bytes in use, after random operations', () => {
  const { memory } = budget(1000)
  const draw = randomFrom(testSeed)
  const open = [memory.lease('a')]
  for (let round = 0; round < 5000; round++) {
    const lease = open[Math.floor(draw() * open.length)]
    if (draw() < 0.3 || !lease) open.push(memory.lease(draw() < 0.5 ? 'a' : 'b'))
    else if (draw() < 0.6) lease.tryAcquire(Math.floor(draw() * 200))
    else if (draw() < 0.5) lease.releaseBytes(Math.floor(draw() * 200))
    else open.splice(open.indexOf(lease), 1)[0]?.release()
    expect(memory.held).toBe(open.reduce((sum, { held }) => sum + held, 0))
  }
  for (const lease of open) lease.release()
  expect(memory.held).toBe(0)
})

describe('a reply', () => {
  const unending = 600_000
  const never = new AbortController().signal

  function replies(maxBytes: number, maxWaitMs = unending) {
    const memory = new MemoryBudget(() => maxBytes, maxWaitMs)
    const acquire = async (organization: string, bytes: number, signal: AbortSignal = never) => {
      const lease = memory.lease(organization)
      await lease.acquireReply(() => bytes, signal)
      return lease
    }
    return { memory, acquire }
  }

  test('acquires at most a quarter of the budget in advance, and holds more once it is there', async () => {
    const { memory, acquire } = replies(100)
    const lease = await acquire('acme', 80)
    expect(memory.held).toBe(25)
    memory.lease('acme').acquire(25)
    lease.hold(55)
    expect(memory.held).toBe(105)
    lease.release()
    lease.hold(10)
    expect(memory.held).toBe(25)
  })

  test('waits for its turn: the first of an organization is the first to get room', async () => {
    const { memory, acquire } = replies(100)
    const body = memory.lease('acme')
    body.acquire(45)
    const order: string[] = []
    const enter = (name: string, bytes: number) =>
      acquire('acme', bytes).then((lease) => {
        order.push(name)
        return lease
      })
    const [large, small] = [enter('large', 20), enter('small', 5)]
    await acquire('other', 25)
    expect(memory.held).toBe(45 + 25)
    body.releaseBytes(10)
    // There is room for the small one.
    expect(memory.held).toBe(35 + 25)
    body.releaseBytes(10)
    await Promise.all([large, small])
    expect(order).toEqual(['large', 'small'])
    expect(memory.held).toBe(25 + 25 + 25)
  })

  test('is rejected after the longest wait, and lets the next one in', async () => {
    const { memory, acquire } = replies(100, 1)
    memory.lease('acme').acquire(30)
    await expect(acquire('acme', 25)).rejects.toThrow('memory limit for open requests is reached')
    expect(memory.held).toBe(30)
    await acquire('acme', 20)
    expect(memory.held).toBe(50)
  })

  test('is rejected where too many wait, and when its request is aborted', async () => {
    const { memory, acquire } = replies(100)
    const body = memory.lease('acme')
    body.acquire(50)
    const leaving = new AbortController()
    const waiting = Array.from({ length: maxWaiting }, () => acquire('acme', 1, leaving.signal))
    await expect(acquire('acme', 1)).rejects.toThrow('memory limit for open requests is reached')
    leaving.abort()
    const outcomes = await Promise.allSettled(waiting)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(maxWaiting)
    body.release()
    await acquire('acme', 1)
    expect(memory.held).toBe(1)
  })
})

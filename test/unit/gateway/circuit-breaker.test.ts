import { describe, expect, test } from 'bun:test'
import { freePort } from '../../support/free-port.ts'
import { CircuitBreaker, type RouteFailure } from '../../../src/gateway/routing/circuit-breaker.ts'
import type { ModelRoute } from '../../../src/gateway/models/model.ts'
import { isReachable } from '../../../src/lib/reachable.ts'
import { provider } from './support/model-fixtures.ts'

const route = { provider: provider('alpha'), model: 'one' }
const sameModelElsewhere = { provider: provider('beta'), model: 'one' }
const otherModel = { provider: provider('alpha'), model: 'two' }

const replied: RouteFailure = { unreachable: false, slow: false }
const refused: RouteFailure = { unreachable: true, slow: false }
const timeout: RouteFailure = { unreachable: false, slow: true }

/** A breaker whose clock the test moves. */
function timed(failures = 3, cooldown = 30_000) {
  const clock = { now: 0 }
  const breaker = new CircuitBreaker({ failures, cooldown }, () => clock.now)
  const fail = (times: number, organization = 'a', failure = replied) => {
    for (let time = 0; time < times; time++) breaker.recordFailure(route, organization, failure)
  }
  const isOut = (organization = 'a') => breaker.isOpen(route, organization)
  const allows = (organization = 'a') => breaker.allowsRequest(route, organization)
  return { breaker, clock, fail, isOut, allows }
}

describe('the circuit of a route opens', () => {
  test('after the configured number of failures in a row, and a success in between resets the count', () => {
    const { breaker, fail, isOut, allows } = timed()
    fail(2)
    expect([isOut(), allows()]).toEqual([false, true])
    breaker.recordSuccess(route)
    fail(2)
    expect([isOut(), allows()]).toEqual([false, true])
    fail(1)
    expect([isOut(), allows()]).toEqual([true, false])
  })

  test('for every organization after one failed connection', () => {
    const { fail, isOut } = timed(1000)
    fail(1, 'a', refused)
    expect([isOut('a'), isOut('b')]).toEqual([true, true])
  })

  test('for that route alone: each has its own count', () => {
    const { breaker, fail } = timed()
    fail(3)
    expect(breaker.isOpen(sameModelElsewhere, 'a')).toBe(false)
    expect(breaker.isOpen(otherModel, 'a')).toBe(false)
    expect(breaker.openCircuits()).toEqual([{ provider: 'alpha', model: 'one' }])
  })
})

describe('failures that one organization may have provoked', () => {
  test('open the circuit for that organization alone, however many they are', () => {
    const { fail, isOut, allows } = timed()
    fail(1000, 'hostile')
    expect([isOut('hostile'), isOut('b')]).toEqual([true, false])
    expect(Array.from({ length: 5 }, () => allows('b'))).toEqual([true, true, true, true, true])
  })

  test('do not make a single failure of another organization count for more', () => {
    const { fail, isOut } = timed(5)
    fail(1000, 'hostile')
    fail(1, 'b')
    expect([isOut('b'), isOut('c')]).toEqual([false, false])
    fail(1, 'b')
    expect([isOut('b'), isOut('c')]).toEqual([true, true])
  })

  test('are reset by a success of another organization', () => {
    const { breaker, fail, isOut } = timed(5)
    fail(4, 'hostile')
    fail(1, 'b')
    breaker.recordSuccess(route)
    fail(4, 'hostile')
    fail(1, 'b')
    expect([isOut('hostile'), isOut('b')]).toEqual([false, false])
  })

  test('open the circuit for all where several organizations fail in a row', () => {
    const { fail, isOut } = timed(3)
    for (const organization of ['a', 'b', 'c']) fail(1, organization)
    expect(isOut('d')).toBe(true)
  })

  test('are counted for a bounded number of organizations', () => {
    const { fail, isOut } = timed(1000)
    for (let number = 0; number < 10_000; number++) fail(1, `organization ${number}`)
    expect(isOut('a')).toBe(false)
    fail(1000, 'a')
    expect([isOut('a'), isOut('b')]).toEqual([true, false])
  })
})

describe('a route whose circuit is open is probed', () => {
  test('by one call a second', () => {
    const { fail, clock, allows } = timed()
    fail(3)
    clock.now = 999
    expect(allows()).toBe(false)
    clock.now = 1000
    expect([allows(), allows()]).toEqual([true, false])
    fail(1)
    clock.now = 1999
    expect(allows()).toBe(false)
    clock.now = 2000
    expect([allows(), allows()]).toEqual([true, false])
  })

  test('by one call at a time, whose success closes the circuit for all', () => {
    const { breaker, fail, clock, allows } = timed()
    fail(3)
    clock.now = 1000
    expect(allows()).toBe(true)
    clock.now = 20_000
    expect(allows()).toBe(false)
    breaker.recordSuccess(route)
    expect([allows(), allows()]).toEqual([true, true])
  })

  test('by another call after a cooldown, where a probe has not ended yet', () => {
    const { fail, clock, allows } = timed()
    fail(3)
    clock.now = 1000
    expect(allows()).toBe(true)
    clock.now = 31_000
    expect([allows(), allows()]).toEqual([true, false])
  })

  test('by another call a second after a probe whose client disconnected', () => {
    const { breaker, fail, clock, allows } = timed()
    fail(3)
    clock.now = 1000
    expect(allows()).toBe(true)
    breaker.releaseProbe(route)
    expect(allows()).toBe(false)
    clock.now = 2000
    expect(allows()).toBe(true)
  })

  test('once in a cooldown after a timeout, because each probe may cost its client another one', () => {
    const { breaker, fail, clock, allows } = timed()
    fail(3, 'a', timeout)
    expect(breaker.isSlow(route)).toBe(true)
    clock.now = 29_999
    expect(allows()).toBe(false)
    clock.now = 30_000
    expect([allows(), allows()]).toEqual([true, false])
    clock.now = 40_000
    fail(1, 'a', timeout)
    clock.now = 59_999
    expect(allows()).toBe(false)
    clock.now = 60_000
    expect(allows()).toBe(true)
  })

  test('first by a connection of the gateway, where none could be made in time', async () => {
    const attempts: Promise<boolean>[] = []
    const clock = { now: 0 }
    const connects = ({ provider }: ModelRoute) => {
      const attempt = isReachable(provider.baseUrl, 2000)
      attempts.push(attempt)
      return attempt
    }
    const breaker = new CircuitBreaker({ failures: 3, cooldown: 30_000 }, () => clock.now, connects)
    const port = await freePort()
    const gone = { provider: provider('alpha', { baseUrl: `http://127.0.0.1:${port}/v1` }), model: 'one' }
    breaker.recordFailure(gone, 'a', { unreachable: true, slow: true })
    clock.now = 1000
    expect([breaker.allowsRequest(gone, 'a'), breaker.allowsRequest(gone, 'a')]).toEqual([false, false])
    expect(await Promise.all(attempts)).toEqual([false])
    const listener = Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
    clock.now = 2000
    expect(breaker.allowsRequest(gone, 'a')).toBe(false)
    expect(await Promise.all(attempts)).toEqual([false, true])
    expect([breaker.allowsRequest(gone, 'a'), breaker.allowsRequest(gone, 'a')]).toEqual([true, false])
    listener.stop(true)
  })

  test('no later because older calls still fail', () => {
    const { fail, clock, allows } = timed()
    fail(3)
    clock.now = 900
    fail(5)
    clock.now = 1000
    expect(allows()).toBe(true)
  })

  test('as often as the cooldown where that is less than a second', () => {
    const { fail, clock, allows } = timed(3, 100)
    fail(3)
    clock.now = 99
    expect(allows()).toBe(false)
    clock.now = 100
    expect(allows()).toBe(true)
  })

  test('first by an organization that did not probe it last', () => {
    const { fail, clock, allows } = timed()
    fail(1, 'hostile', refused)
    clock.now = 1000
    expect(allows('hostile')).toBe(true)
    fail(1, 'hostile')
    clock.now = 1999
    expect(allows('hostile')).toBe(false)
    expect(allows('b')).toBe(true)
  })
})

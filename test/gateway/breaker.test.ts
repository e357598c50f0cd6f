import { expect, test } from 'bun:test'
import { createBreaker } from '../../src/gateway/breaker.ts'
import { provider } from './model-world.ts'

const route = { provider: provider('alpha'), model: 'one' }
const sameModelElsewhere = { provider: provider('beta'), model: 'one' }
const otherModel = { provider: provider('alpha'), model: 'two' }

/** Opens after three failures for a hundred milliseconds of a clock that the test moves. */
function timed() {
  const clock = { now: 0 }
  const breaker = createBreaker({ failures: 3, cooldown: 100 }, () => clock.now)
  const fail = (times: number) => {
    for (let time = 0; time < times; time++) breaker.failed(route)
  }
  return { breaker, clock, fail }
}

test('a route is allowed until it has failed so often in a row', () => {
  const { breaker, fail } = timed()
  fail(2)
  expect(breaker.allows(route)).toBe(true)
  fail(1)
  expect(breaker.allows(route)).toBe(false)
})

test('a success in between begins the count anew', () => {
  const { breaker, fail } = timed()
  fail(2)
  breaker.succeeded(route)
  fail(2)
  expect(breaker.allows(route)).toBe(true)
})

test('after the cooldown one caller is let through, and one more only after another cooldown', () => {
  const { breaker, clock, fail } = timed()
  fail(3)
  clock.now = 99
  expect(breaker.allows(route)).toBe(false)
  clock.now = 100
  expect([breaker.allows(route), breaker.allows(route)]).toEqual([true, false])
  clock.now = 199
  expect(breaker.allows(route)).toBe(false)
  clock.now = 200
  expect([breaker.allows(route), breaker.allows(route)]).toEqual([true, false])
})

test('the caller who was let through opens the route with a success, and closes it again with a failure', () => {
  const { breaker, clock, fail } = timed()
  fail(3)
  clock.now = 150
  expect(breaker.allows(route)).toBe(true)
  fail(1)
  clock.now = 249
  expect(breaker.allows(route)).toBe(false)
  clock.now = 250
  expect(breaker.allows(route)).toBe(true)
  breaker.succeeded(route)
  expect([breaker.allows(route), breaker.allows(route)]).toEqual([true, true])
})

test('each route has a count of its own', () => {
  const { breaker, fail } = timed()
  fail(3)
  expect([breaker.allows(sameModelElsewhere), breaker.allows(otherModel)]).toEqual([true, true])
})

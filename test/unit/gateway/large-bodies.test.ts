import { describe, expect, test } from 'bun:test'
import { type BodyTurn, LargeBodies, maxWaiting } from '../../../src/gateway/rate-limits/large-bodies.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { organization } from './support/organization.ts'

const acme = organization('org_acme')
const other = organization('org_other')
const { signal } = new AbortController()
const gibibyte = 1024 ** 3

function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** The 429 of full lines. */
const full = {
  status: 429,
  code: 'rate_limit_exceeded',
  headers: expect.objectContaining({ 'retry-after': '1' }),
}

describe('large bodies of one organization', () => {
  test('are processed one at a time, in their order, and let others in between', async () => {
    const bodies = new LargeBodies()
    const log: string[] = []
    let working = 0
    async function process(owner: typeof acme, name: string): Promise<void> {
      const turn = await bodies.enter(owner, signal)
      if (owner === acme) expect(++working).toBe(1)
      for (const step of [1, 2]) await turn.run(() => log.push(`${name}${step}`))
      if (owner === acme) working -= 1
      turn.end()
    }
    const all = ['a', 'b', 'c', 'd'].map((name) => process(acme, name))
    await Promise.all([...all, process(other, 'x')])
    expect(log.filter((entry) => !entry.startsWith('x'))).toEqual([
      'a1',
      'a2',
      'b1',
      'b2',
      'c1',
      'c2',
      'd1',
      'd2',
    ])
    // The body of another organization does not wait for the line.
    expect(log.indexOf('x2')).toBeLessThan(log.indexOf('b1'))
  })

  test('rest for as long as the last one took, with the work that follows its turn', async () => {
    let now = 0
    const rest = Promise.withResolvers<{ milliseconds: number; end(): void }>()
    const bodies = new LargeBodies(
      () => now,
      (milliseconds, end) => rest.resolve({ milliseconds, end }),
    )
    const turn = await bodies.enter(acme, signal)
    let entered = false
    const next = bodies.enter(acme, signal).then(() => (entered = true))
    await turn.run(() => (now += 20))
    // Other requests run between the steps: their time does not count.
    now += 500
    await turn.run(() => (now += 30))
    turn.end()
    now += 7
    const { milliseconds, end } = await rest.promise
    expect([milliseconds, entered]).toEqual([57, false])
    end()
    await next
  })

  test('are a 429 where too many wait, before they are read and after it', async () => {
    const bodies = new LargeBodies()
    const turn = await bodies.enter(acme, signal)
    const waiting = Array.from({ length: maxWaiting }, () => bodies.enter(acme, signal))
    expect(() => bodies.takeBytes(acme, 1)).toThrow(ApiError)
    expect(await rejectionOf(bodies.enter(acme, signal))).toMatchObject(full)
    bodies.takeBytes(other, 1)
    turn.end()
    for (const entering of waiting) (await entering).end()
    bodies.takeBytes(acme, 1)
  })

  test('do not wait longer than their client', async () => {
    const bodies = new LargeBodies()
    const turn = await bodies.enter(acme, signal)
    const leaving = new AbortController()
    const left = rejectionOf(bodies.enter(acme, leaving.signal))
    const staying = bodies.enter(acme, signal)
    leaving.abort()
    expect(await left).toMatchObject({ status: 499 })
    turn.end()
    expect<BodyTurn>(await staying).toBeDefined()
    expect(await rejectionOf(bodies.enter(other, leaving.signal))).toMatchObject({ status: 499 })
  })

  test('have at most 4 GiB a minute', () => {
    let now = 0
    const bodies = new LargeBodies(() => now)
    for (let count = 0; count < 4; count++) bodies.takeBytes(acme, gibibyte)
    const error = (() => {
      try {
        bodies.takeBytes(acme, gibibyte)
      } catch (error) {
        return error
      }
    })()
    expect(error).toMatchObject({ status: 429, headers: { 'retry-after': '15', 'retry-after-ms': '15000' } })
    bodies.takeBytes(other, gibibyte)
    now += 15_000
    bodies.takeBytes(acme, gibibyte)
    expect(() => bodies.takeBytes(acme, 1)).toThrow('too many bytes in large request bodies per minute')
  })
})

import { describe, expect, test } from 'bun:test'
import type { RateLimitOwner } from '../../../src/gateway/access/caller-limits.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { callerOf, createLocalLimits } from '../../support/local-limits.ts'
import { organization } from './support/organization.ts'

const acme = organization()
const none = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

function owner(id: string, title: string, limits: Partial<RateLimitOwner['limits']>): RateLimitOwner {
  return { id, title, limits: { ...none, ...limits } }
}

/** Limits of the organization: 10 requests and 1000 tokens a minute, 3 calls at once; on a clock that a test turns. */
function gateway({ requests = 10, max = 100 } = {}) {
  const clock = { now: 0 }
  const values = { requestsPerMinute: requests, tokensPerMinute: 1000, concurrentRequests: 3 }
  const limits = createLocalLimits(
    () => values,
    () => clock.now,
    max,
  )
  const admit = (...owners: readonly RateLimitOwner[]) => limits.admit(callerOf(acme, owners), () => {})
  return { clock, limits, admit }
}

function refusal(action: () => unknown): ApiError {
  try {
    action()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

describe('the limits of a key, its project and its organization', () => {
  test('count every request, and a refusal of the key takes nothing from the others', () => {
    const { admit } = gateway()
    const key = owner('k1', 'the key', { requestsPerMinute: 2 })
    const project = owner('p1', 'the project', { requestsPerMinute: 5 })
    admit(project, key)
    admit(project, key)
    expect(refusal(() => admit(project, key)).message).toBe(
      'Rate limit exceeded: too many requests per minute for the key (limit: 2). Try again in 30 seconds.',
    )
    expect(admit(project).status().requests.remaining).toBe(2)
    expect(admit().status().requests.remaining).toBe(6)
  })

  test('give a request back to the key when the project or the organization refuses it', () => {
    const { admit, clock } = gateway()
    const key = owner('k1', 'the key', { requestsPerMinute: 3 })
    const project = owner('p1', 'the project', { requestsPerMinute: 1 })
    admit(project, key)
    for (let attempt = 0; attempt < 10; attempt++)
      expect(refusal(() => admit(project, key)).message).toContain('for the project (limit: 1)')
    expect(admit(key).status().requests).toEqual({ limit: 3, remaining: 1, resetMs: 40_000 })
    for (let others = 0; others < 8; others++) admit()
    expect(refusal(() => admit(key)).message).toContain('for the organization (limit: 10)')
    clock.now += 6000
    // One of the organization's, and the key still has its own.
    expect(admit(key).status().requests.remaining).toBe(0)
  })

  test('take tokens and slots of all or of none', () => {
    const { admit } = gateway()
    const key = owner('k1', 'the key', { tokensPerMinute: 100 })
    const project = owner('p1', 'the project', { concurrentRequests: 1 })
    const first = admit(project, key).open(60)
    expect(refusal(() => admit(project, key).open(60)).message).toContain(
      'too many concurrent requests for the project (limit: 1)',
    )
    first.release(90)
    expect(refusal(() => admit(project, key).open(60)).message).toContain(
      'too many tokens per minute for the key (limit: 100)',
    )
    // The slot that the refused call had was freed.
    const second = admit(project, key).open(10)
    expect(admit(key).status().tokens).toEqual({ limit: 100, remaining: 0, resetMs: 60_000 })
    second.release(10)
    expect(admit().status().tokens.remaining).toBe(900)
  })

  test('keep a queued run waiting for the slot of its key, and return its tokens', async () => {
    const { admit, limits } = gateway()
    const key = owner('k1', 'the key', { concurrentRequests: 1, tokensPerMinute: 100 })
    const running = admit(key).open(10)
    const queued = admit(key).queue(40)
    const resumed = limits.resume(callerOf(acme, [key]))
    expect([queued.start(), await resumed.start()]).toEqual([undefined, undefined])
    running.release(10)
    const started = queued.start()
    expect(started).toBeDefined()
    expect(await resumed.start()).toBeUndefined()
    started?.release(5)
    admit(key).queue(20).release()
    expect(admit(key).status().tokens.remaining).toBe(85)
  })

  test('show the least that is left, whichever owner has it', () => {
    const { admit } = gateway()
    const key = owner('k1', 'the key', { requestsPerMinute: 100, tokensPerMinute: 50 })
    const status = admit(key).status()
    expect(status.requests).toEqual({ limit: 10, remaining: 9, resetMs: 6000 })
    expect(status.tokens).toEqual({ limit: 50, remaining: 50, resetMs: 0 })
  })

  test('follow a change at the next request; a limit that was removed limits nothing', () => {
    const { admit } = gateway()
    admit(owner('k1', 'the key', { requestsPerMinute: 1 }))
    expect(refusal(() => admit(owner('k1', 'the key', { requestsPerMinute: 1 }))).status).toBe(429)
    expect(admit(owner('k1', 'the key', { tokensPerMinute: 7 })).status().tokens.limit).toBe(7)
    expect(admit().status().requests.remaining).toBe(7)
  })

  test('are shared by a key and the one that replaces it, which have one id', () => {
    const { admit } = gateway()
    const key = () => owner('k1', 'the key', { requestsPerMinute: 2 })
    admit(key())
    admit(key())
    expect(refusal(() => admit(key())).status).toBe(429)
  })

  test('are evicted with those of idle organizations, and never while they are spent', () => {
    const { admit, limits, clock } = gateway({ requests: 1e6, max: 20 })
    const spent = owner('spent', 'the key', { requestsPerMinute: 1 })
    admit(spent)
    for (let index = 0; index < 500; index++) {
      clock.now += 1
      admit(owner(`k${index}`, 'the key', { concurrentRequests: 5 }))
    }
    expect(limits.size()).toBeLessThanOrEqual(40)
    expect(refusal(() => admit(spent)).message).toContain('for the key (limit: 1)')
  })

  test('of tokens count what a long call has used, also if the idle limiter was evicted meanwhile', () => {
    const { admit, clock } = gateway({ requests: 1e6, max: 20 })
    const key = owner('long', 'the key', { tokensPerMinute: 100 })
    const call = admit(key).open(50)
    clock.now += 60_000
    for (let index = 0; index < 500; index++) {
      clock.now += 1
      admit(owner(`k${index}`, 'the key', { concurrentRequests: 5 }))
    }
    call.release(150)
    expect(admit(key).status().tokens).toEqual({ limit: 100, remaining: 0, resetMs: 60_000 })
  })
})

import { describe, expect, test } from 'bun:test'
import type { RateLimitStatus } from '../../../src/storage/ports/limits.ts'
import { callerOf, createLocalLimits, type LocalAdmission } from '../../support/local-limits.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import type { Organization } from '../../../src/domain/accounting/organization.ts'
import { organization } from './support/organization.ts'

const acme = organization()
const other = organization('org_other')

/** Limits of 10 requests and 1000 tokens a minute and 2 calls at once, on a clock that a test turns. */
function gateway({ requests = 10, tokens = 1000, open = 2, most: max = 100 } = {}) {
  const clock = { now: 0 }
  const values = { requestsPerMinute: requests, tokensPerMinute: tokens, concurrentRequests: open }
  const limits = createLocalLimits(
    () => values,
    () => clock.now,
    max,
  )
  const latest: { admission?: LocalAdmission; refused?: RateLimitStatus } = {}
  const refused = (standing: RateLimitStatus) => void (latest.refused = standing)
  const admit = (who: Organization = acme) => (latest.admission = limits.admit(callerOf(who), refused))
  const left = () => {
    const standing = latest.admission?.status()
    return [standing?.requests.remaining, standing?.tokens.remaining]
  }
  return { clock, limits, admit, left, latest }
}

/** The error that this throws. */
function refusal(action: () => unknown): ApiError {
  try {
    action()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

function passed(count: number, action: () => unknown): number {
  const attempts = Array.from({ length: count }, () => {
    try {
      action()
      return 1
    } catch {
      return 0
    }
  })
  return attempts.reduce<number>((sum, one) => sum + one, 0)
}

describe('the requests per minute', () => {
  test('allow exactly the limit in a burst, and the next request at the announced time', () => {
    const { admit, clock } = gateway()
    expect(passed(50, admit)).toBe(10)
    const { status, type, code, param, message, headers } = refusal(admit)
    expect([status, type, code, param]).toEqual([429, 'requests', 'rate_limit_exceeded', null])
    expect(message).toBe(
      'Rate limit exceeded: too many requests per minute for the organization (limit: 10). Try again in 6 seconds.',
    )
    expect(headers).toEqual({ 'retry-after': '6', 'retry-after-ms': '6000' })
    clock.now += 5999
    expect(refusal(admit).headers).toEqual({ 'retry-after': '1', 'retry-after-ms': '1' })
    clock.now += 1
    expect(passed(50, admit)).toBe(1)
  })

  test('are not shared with another organization', () => {
    const { admit } = gateway()
    expect(passed(50, admit)).toBe(10)
    expect(passed(50, () => admit(other))).toBe(10)
  })

  test('are reported as remaining, also on a rejection', () => {
    const { admit, latest } = gateway()
    const admission = admit()
    const tokens = { limit: 1000, remaining: 1000, resetMs: 0 }
    expect(admission.status()).toEqual({ requests: { limit: 10, remaining: 9, resetMs: 6000 }, tokens })
    expect(latest.refused).toBeUndefined()
    passed(50, admit)
    expect(latest.refused).toEqual({ requests: { limit: 10, remaining: 0, resetMs: 60_000 }, tokens })
  })
})

describe('the tokens per minute', () => {
  test('are debited by the estimate and corrected to the usage, up or down', () => {
    const { admit, left } = gateway()
    const call = admit().open(300)
    expect(left()).toEqual([9, 700])
    call.release(550)
    expect(left()).toEqual([9, 450])
    admit().open(300).release(0)
    expect(left()).toEqual([8, 450])
  })

  test('reject a call that exceeds them, which takes neither tokens nor a concurrency slot', () => {
    const { admit, left } = gateway()
    admit().open(900)
    const { status, type, code, headers, message } = refusal(() => admit().open(101))
    expect([status, type, code]).toEqual([429, 'tokens', 'rate_limit_exceeded'])
    expect(headers).toEqual({ 'retry-after': '1', 'retry-after-ms': '60' })
    expect(message).toContain('too many tokens per minute for the organization (limit: 1000).')
    expect(left()).toEqual([8, 100])
    admit().open(100)
    expect(left()).toEqual([7, 0])
  })

  test('are owed for a prompt beyond the limit, also where it was slightly underestimated', () => {
    const { admit, clock, left } = gateway()
    admit().open(1_000_000).release(900_000)
    expect(left()[1]).toBe(0)
    expect(refusal(() => admit().open(1)).headers['retry-after-ms']).toBe('60060')
    clock.now += 120_000
    admit().open(1_000_000).release(300)
    expect(left()[1]).toBe(700)
  })

  test('are owed for usage beyond the limit, one minute of them at most: nothing passes until they have refilled', () => {
    const { admit, clock, left } = gateway()
    admit().open(100).release(3000)
    expect(left()).toEqual([9, 0])
    expect(refusal(() => admit().open(1)).headers['retry-after-ms']).toBe('60060')
    clock.now += 60_060
    admit().open(1)
    expect(left()[1]).toBe(0)
  })

  test('allow a call for more than the limit when nothing else was used', () => {
    const { admit } = gateway()
    admit().open(5000)
    expect(refusal(() => admit().open(1)).type).toBe('tokens')
  })
})

describe('concurrent requests', () => {
  test('are limited, and a call that ends frees its slot', () => {
    const { admit, left } = gateway()
    const [first] = [admit().open(10), admit().open(10)]
    const { status, type, code, headers, message } = refusal(() => admit().open(10))
    expect([status, type, code]).toEqual([429, 'requests', 'rate_limit_exceeded'])
    expect(headers).toEqual({ 'retry-after': '1', 'retry-after-ms': '1000' })
    expect(message).toContain('too many concurrent requests for the organization (limit: 2).')
    expect(left()).toEqual([7, 980])
    first.release(10)
    expect(passed(5, () => admit().open(10))).toBe(1)
  })

  test('free one slot and are corrected once when a call is closed twice', () => {
    const { admit, left } = gateway()
    const [first] = [admit().open(10), admit().open(10)]
    first.release(20)
    first.release(500)
    expect(left()).toEqual([8, 970])
    expect(passed(5, () => admit().open(10))).toBe(1)
  })

  test('take no slot where they open no call', () => {
    const { admit } = gateway()
    expect(passed(9, admit)).toBe(9)
    admit().open(1)
  })
})

describe('the limits of an organization', () => {
  test('override those of the settings, each separately', () => {
    const { admit } = gateway()
    const { requests, tokens } = admit(organization('org_own', { tokensPerMinute: 77 })).status()
    expect(requests.limit).toBe(10)
    expect(tokens.limit).toBe(77)
  })

  test('apply from the next request after a change, without a new burst', () => {
    const { admit, left, clock } = gateway()
    expect(passed(50, admit)).toBe(10)
    const raised = organization('org_acme', { requestsPerMinute: 6000, concurrentRequests: 1 })
    expect(passed(50, () => admit(raised))).toBe(0)
    clock.now += 10
    const held = admit(raised).open(1)
    expect(left()[0]).toBe(0)
    expect(passed(50, () => admit(raised))).toBe(0)
    clock.now += 10
    expect(refusal(() => admit(raised).open(1)).message).toContain(
      'concurrent requests for the organization (limit: 1).',
    )
    held.release(1)
  })

  test('apply immediately when they are lowered, also for concurrency', () => {
    const { admit } = gateway()
    const open = [admit().open(1), admit().open(1)]
    const lowered = organization('org_acme', { requestsPerMinute: 5, concurrentRequests: 1 })
    expect(passed(50, () => admit(lowered))).toBe(4)
    expect(open.length).toBe(2)
  })
})

describe('the limiter’s memory of organizations', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => organization(`org_${index}`))

  test('is bounded: idle ones are evicted', () => {
    const { admit, limits, clock } = gateway({ most: 20 })
    for (const who of names(1000)) {
      admit(who)
      clock.now += 60_000
    }
    expect(limits.size()).toBeWithin(1, 21)
  })

  test('never loses a debt, a spent request or an open call', () => {
    const { admit, limits, clock } = gateway({ most: 3, open: 1 })
    admit(organization('org_debt')).open(1).release(1_000_000)
    const opened = organization('org_open')
    const call = admit(opened)
    call.open(1)
    clock.now += 30_000
    passed(50, () => admit(acme))
    for (const who of names(500)) admit(who)
    expect(refusal(() => admit(organization('org_debt')).open(1)).type).toBe('tokens')
    expect(refusal(() => admit(opened).open(1)).message).toContain('concurrent requests')
    expect(refusal(() => admit(acme)).type).toBe('requests')
    expect(limits.size()).toBe(503)
  })

  test('counts a call whose organization was evicted while its body arrived like any other', () => {
    const { admit, clock } = gateway({ most: 1, open: 1 })
    const slow = admit()
    clock.now += 60_000
    admit(other)
    slow.open(10)
    expect(refusal(() => admit().open(10)).message).toContain('concurrent requests')
  })
})

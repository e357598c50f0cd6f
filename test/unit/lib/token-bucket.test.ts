import { describe, expect, test } from 'bun:test'
import { TokenBucket } from '../../../src/lib/token-bucket.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'

describe('a full bucket', () => {
  test.each([1, 2, 7, 100, 6000, 20_000_000])('allows a burst of exactly %d', (limit) => {
    const bucket = new TokenBucket(limit, 0.7)
    const burst = Math.min(limit, 10_000)
    bucket.charge(limit - burst, 0.8)
    let granted = 0
    for (let index = 0; index < burst + 500; index++) if (bucket.take(1, 0.9) === 0) granted += 1
    expect(granted).toBe(burst)
    expect(bucket.remaining(0.9)).toBe(0)
  })

  test('allows more than its capacity, and is in debt until it has refilled, for a minute at most', () => {
    const bucket = new TokenBucket(100, 0)
    expect(bucket.take(250, 0)).toBe(0)
    expect([bucket.remaining(0), bucket.resetMs(0)]).toEqual([0, 120_000])
    expect(bucket.take(1, 0)).toBe(60_600)
    expect(bucket.take(1, 60_599)).toBe(1)
    expect(bucket.take(1, 60_600)).toBe(0)
  })

  test('gains nothing from a long pause, or from a clock that stops', () => {
    const bucket = new TokenBucket(5, 0)
    const granted = () => Array.from({ length: 9 }, () => bucket.take(1, 1e12)).filter((wait) => wait === 0)
    expect(granted().length).toBe(5)
    expect(granted().length).toBe(0)
  })
})

describe('a partly filled bucket', () => {
  test('rejects an amount below its capacity that it does not hold, and takes nothing', () => {
    const bucket = new TokenBucket(60, 0)
    bucket.take(50, 0)
    expect(bucket.take(11, 0)).toBe(1000)
    expect(bucket.remaining(0)).toBe(10)
    expect(bucket.take(10, 0)).toBe(0)
  })

  test('rejects an amount above its capacity until it is full', () => {
    const bucket = new TokenBucket(60, 0)
    bucket.take(1, 0)
    expect(bucket.take(100, 0)).toBe(1000)
    expect(bucket.take(100, 999)).toBe(1)
    expect(bucket.take(100, 1000)).toBe(0)
  })

  test('refills with time, up to its capacity', () => {
    const bucket = new TokenBucket(60, 0)
    bucket.take(60, 0)
    const left = [0, 999, 1000, 59_999, 60_000, 3_600_000].map((now) => bucket.remaining(now))
    expect(left).toEqual([0, 0, 1, 59, 60, 60])
    expect(bucket.resetMs(3_600_000)).toBe(0)
  })
})

describe('a correction of a bucket', () => {
  test('may leave a debt', () => {
    const bucket = new TokenBucket(60, 0)
    bucket.take(10, 0)
    bucket.charge(110, 0)
    expect([bucket.remaining(0), bucket.take(1, 0)]).toEqual([0, 61_000])
  })

  test('refunds tokens, but never above the capacity', () => {
    const bucket = new TokenBucket(60, 0)
    bucket.take(10, 0)
    bucket.charge(-9, 0)
    expect(bucket.remaining(0)).toBe(59)
    bucket.charge(-500, 0)
    expect([bucket.remaining(0), bucket.resetMs(0)]).toEqual([60, 0])
    expect([bucket.take(60, 0), bucket.take(1, 0)]).toEqual([0, 1000])
  })
})

describe('a changed limit of a bucket', () => {
  test.each([
    [100, 10_000],
    [10_000, 100],
    [3, 7],
    [7, 3],
  ])('from %d to %d preserves the time until the bucket is full', (from, to) => {
    const bucket = new TokenBucket(from, 0)
    bucket.take(from, 0)
    expect(bucket.resetMs(15_000)).toBe(45_000)
    bucket.resize(to, 15_000)
    expect(bucket.resetMs(15_000)).toBe(45_000)
    expect([bucket.limit, bucket.remaining(15_000)]).toEqual([to, Math.floor(to / 4)])
    expect(bucket.remaining(60_000)).toBe(to)
  })

  test('never allows more than the old and the new one would, however often it changes', () => {
    const bucket = new TokenBucket(1000, 0)
    let granted = 0
    for (let round = 0; round < 5000; round++) {
      bucket.resize([3, 1000, 7, 999][round % 4] ?? 1, 0)
      if (bucket.limit >= 999 && bucket.take(1, 0) === 0) granted += 1
    }
    expect(granted).toBeWithin(1, 1001)
  })

  test('beyond exact counting is the largest exact one', () => {
    const bucket = new TokenBucket(Number.MAX_SAFE_INTEGER, 0)
    expect(bucket.take(1e12, 0)).toBe(0)
    bucket.charge(Number.MAX_SAFE_INTEGER, 0)
    bucket.resize(1, 0)
    expect(Number.isSafeInteger(bucket.take(1, 0))).toBe(true)
    expect(Number.isSafeInteger(bucket.resetMs(0))).toBe(true)
  })
})

/** The same rules in fractions of any size: `held` is what the bucket holds, times 60,000. */
class Model {
  readonly limit: bigint
  held: bigint
  at = 0n

  constructor(limit: bigint) {
    this.limit = limit
    this.held = limit * 60_000n
  }

  take(amount: bigint, now: bigint): boolean {
    this.fill(now)
    const granted = amount > this.limit ? this.held === this.limit * 60_000n : this.held >= amount * 60_000n
    if (granted) this.held = this.withDebt(this.held - amount * 60_000n)
    return granted
  }

  charge(amount: bigint, now: bigint): void {
    this.fill(now)
    this.held = this.withDebt(this.upToFull(this.held - amount * 60_000n))
  }

  fill(now: bigint): void {
    this.held = this.upToFull(this.held + this.limit * (now - this.at))
    this.at = now
  }

  /** A minute of it at most. */
  withDebt(held: bigint): bigint {
    return held > -this.limit * 60_000n ? held : -this.limit * 60_000n
  }

  upToFull(held: bigint): bigint {
    return held < this.limit * 60_000n ? held : this.limit * 60_000n
  }
}

describe('a bucket at random times and amounts', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'agrees with an exact model, for limits of up to %d digits',
    (digits) => {
      const random = randomFrom(`bucket ${digits}`)
      const below = (bound: number) => Math.floor(random() * bound)
      const limit = 1 + below(10 ** digits)
      const [bucket, model] = [new TokenBucket(limit, 0), new Model(BigInt(limit))]
      let now = 0
      for (let step = 0; step < 2500; step++) {
        now += below(2) * below(10 ** below(6))
        const fine = now + random() * 0.999
        const amount = below(2) === 0 ? 1 : below(Math.ceil(limit * 1.2))
        if (below(5) === 0) {
          const correction = amount - below(limit)
          bucket.charge(correction, fine)
          model.charge(BigInt(correction), BigInt(now))
        } else expect(bucket.take(amount, fine) === 0).toBe(model.take(BigInt(amount), BigInt(now)))
        const complete = model.held > 0n ? Number(model.held / 60_000n) : 0
        expect(bucket.remaining(fine)).toBe(complete)
      }
    },
  )

  test('reports the exact wait: rejected a millisecond before, allowed then', () => {
    const random = randomFrom('waits')
    let waits = 0
    for (let round = 0; round < 300; round++) {
      const limit = 1 + Math.floor(random() * 10 ** (1 + (round % 9)))
      const spent = Math.floor(random() * limit * 2)
      const amount = 1 + Math.floor(random() * limit)
      const after = (milliseconds: number) => {
        const bucket = new TokenBucket(limit, 0)
        bucket.charge(spent, 0)
        return bucket.take(amount, milliseconds)
      }
      const wait = after(0)
      expect(after(wait)).toBe(0)
      if (wait > 0) expect(after(wait - 1)).toBe(1)
      waits += Number(wait > 0)
    }
    expect(waits).toBeGreaterThan(100)
  })
})

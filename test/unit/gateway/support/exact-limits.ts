import { expect } from 'bun:test'
import { TokenBucket } from '../../../../src/lib/token-bucket.ts'
import { waitUntil } from '../../../support/billing-database.ts'
import { randomFrom } from '../../providers/protocols/support/random.ts'
import type { OpenStore, SharedTestStore } from '../../storage/support/stores.ts'
import { openLeased, refusalOf } from './leased-limits.ts'

/** Sends random requests of several processes, and expects that they get exactly what one exact bucket would grant. */
export async function expectExactLimits(
  open: OpenStore<SharedTestStore>,
  seed: string,
  rounds: number,
): Promise<void> {
  const [requests, tokens, concurrent] = [300, 20_000, 12]
  await using leased = await openLeased(open, { requests, tokens, concurrent })
  const { all, acme, clock, untilLeft, slotRows } = leased
  const random = randomFrom(seed)
  const exact = {
    requests: new TokenBucket(requests, clock.now),
    tokens: new TokenBucket(tokens, clock.now),
  }
  let active = 0
  let refused = 0

  async function call(): Promise<void> {
    const process = all[Math.floor(random() * all.length)]
    const reserved = 1 + Math.floor(random() ** 3 * 2000)
    const admission = await process?.admit(acme)
    expect(exact.requests.take(1, clock.now)).toBe(0)
    const slot = await admission?.open(reserved)
    expect(exact.tokens.take(reserved, clock.now)).toBe(0)
    expect(++active).toBeLessThanOrEqual(concurrent)
    await Bun.sleep(random() * 20)
    active--
    const used = Math.floor(random() * (reserved + 1))
    exact.tokens.charge(used - reserved, clock.now)
    slot?.release(used)
  }

  async function untilReturned(): Promise<void> {
    for (const kind of ['requests', 'tokens'] as const) {
      const { limit, spent } = exact[kind].state
      await untilLeft(kind, limit - spent / 60_000)
    }
  }

  for (let round = 0; round < rounds; round++) {
    const calls = Array.from({ length: 80 }, async () => {
      await Bun.sleep(random() * 150)
      if (await refusalOf(call)) refused++
    })
    await Promise.all(calls)
    await untilReturned()
    // Nobody holds anything now: all that is left is granted to any of them.
    const left = exact.tokens.remaining(clock.now)
    const isAllGranted = async () => {
      const refusal = await refusalOf(async () => {
        const admission = await all[round % 3]?.admit(acme)
        expect(exact.requests.take(1, clock.now)).toBe(0)
        ;(await admission?.open(left))?.release(left)
      })
      return refusal === undefined
    }
    if (left > 0) {
      exact.tokens.take(left, clock.now)
      await waitUntil(isAllGranted, 'the rest is granted')
    }
    await untilReturned()
    clock.now += Math.floor(random() * 40_000)
    for (const bucket of Object.values(exact)) bucket.charge(0, clock.now)
  }
  expect(refused).toBeGreaterThan(5 * rounds)
  await waitUntil(async () => (await slotRows()).length === 0, 'no slots are held')
}

import { expect, test } from 'bun:test'
import type { RenewLeases } from '../../../src/storage/postgres/cluster/lease-store.ts'
import { callerOf } from '../../support/local-limits.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testSharedStores } from '../storage/support/stores.ts'
import { openLeased, refusalOf } from './support/leased-limits.ts'

/** Few slots, and so few tokens that little of them is leased in advance. */
const small = { requests: 600, tokens: 200_000, concurrent: 3 }

testSharedStores((open) => {
  test('a request that opens a call has its slot and its tokens with the renewal that admits it', async () => {
    await using leased = await openLeased(open, small)
    const { all, acme, counts } = leased
    const [one] = all
    const admissions = await Promise.all(
      Array.from({ length: 3 }, () => one?.limits.admit(callerOf(acme), () => {}, true)),
    )
    expect(admissions.map((admission) => admission?.acquireSlot())).toEqual([undefined, undefined, undefined])
    const calls = admissions.map((admission) => admission?.open(200))
    expect(calls.map((call) => call instanceof Promise)).toEqual([false, false, false])
    expect(counts.renewals).toBe(1)
    expect((await refusalOf(async () => await all[1]?.open(acme, 1)))?.status).toBe(429)
    for (const call of calls) (await call)?.release(200)
  })

  test('what a request has leased for its call and does not take is returned', async () => {
    const asked: Parameters<RenewLeases>[] = []
    await using leased = await openLeased(open, {
      ...small,
      renew:
        (renew) =>
        (...renewals) => {
          asked.push(renewals)
          return renew(...renewals)
        },
    })
    const { all, acme, slotRows, untilLeft } = leased
    await all[0]?.limits.admit(callerOf(acme), () => {}, true)
    const [[, renewals] = []] = asked
    expect(renewals).toMatchObject([
      { kind: 'requests', needs: [1] },
      { kind: 'tokens', needs: [], ahead: 1000 },
      { kind: 'concurrent', held: 0, needs: [], ahead: 1 },
      { kind: 'queued', held: 0, needs: [], ahead: 0 },
    ])
    await waitUntil(async () => (await slotRows()).length === 0, 'the slot is returned')
    await untilLeft('tokens', small.tokens)
  })

  test('a request that opens no call leases no slot and no tokens', async () => {
    await using leased = await openLeased(open, small)
    const { all, acme, slotRows, leftInStore } = leased
    await all[0]?.admit(acme)
    expect(await slotRows()).toEqual([])
    expect(await leftInStore('tokens')).toBe(small.tokens)
  })
})

import { expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import type { RenewLeases } from '../../../src/storage/postgres/cluster/lease-store.ts'
import { testSharedStores } from '../storage/support/stores.ts'
import { openLeased, refusalOf } from './support/leased-limits.ts'

/** More than a renewal takes on a busy machine. */
const renewalTimeoutMs = 1000

/** Makes the answers of these renewals wait for the gate, when the store has executed them. */
function late(isLate: (...renewal: Parameters<RenewLeases>) => boolean) {
  const gate = Promise.withResolvers<void>()
  const renew =
    (renewLeases: RenewLeases): RenewLeases =>
    async (...renewals) => {
      const grants = await renewLeases(...renewals)
      if (isLate(...renewals)) await gate.promise
      return grants
    }
  return { renew, open: gate.resolve }
}

testSharedStores((open) => {
  test('a slot that is granted after its request was rejected is returned', async () => {
    const gate = late(
      (process, renewals) =>
        process === 'process0' &&
        renewals.some(({ kind, needs }) => kind === 'concurrent' && needs.length > 0),
    )
    await using leased = await openLeased(open, {
      requests: 100,
      concurrent: 1,
      renew: gate.renew,
      renewalTimeoutMs,
    })
    const { all, acme, counts, slotRows } = leased
    const [one, other] = all
    const admission = await one?.admit(acme)
    expect((await refusalOf(() => admission?.open(1)))?.status).toBe(503)
    // Until the answer is there, the others are rejected without a wait.
    const { renewals } = counts
    expect((await refusalOf(() => one?.admit(acme)))?.status).toBe(503)
    expect(counts.renewals).toBe(renewals)
    expect(await slotRows()).toMatchObject([{ process_id: 'process0', held: 1 }])
    gate.open()
    await waitUntil(async () => (await slotRows()).length === 0, 'the slot is returned')
    await other?.open(acme, 1)
    expect((await refusalOf(() => one?.open(acme, 1)))?.status).toBe(429)
  })

  test('tokens that are granted after their request was rejected are returned', async () => {
    const gate = late((_, renewals) => renewals.some(({ needs }) => needs.includes(300)))
    await using leased = await openLeased(open, { tokens: 500, renew: gate.renew, renewalTimeoutMs })
    const { all, acme, leftInStore, untilLeft } = leased
    const [one, other] = all
    expect((await refusalOf(() => one?.open(acme, 300)))?.status).toBe(503)
    expect(await leftInStore('tokens')).toBe(200)
    gate.open()
    await untilLeft('tokens', 500)
    await other?.open(acme, 500)
  })
})

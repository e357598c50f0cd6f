import { describe, expect, onTestFinished, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { createLeaseStore } from '../../../src/storage/postgres/cluster/lease-store.ts'
import { openConnections } from '../../../src/storage/postgres/connection/connections.ts'
import { openDatabase } from '../../../src/storage/postgres/connection/database.ts'
import { joinCluster } from '../../../src/storage/postgres/cluster/cluster.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { signalServer } from '../../support/postgres/signal-server.ts'
import { type LimitsClient, openLeased } from '../../unit/gateway/support/leased-limits.ts'
import { openPostgresStore } from '../../unit/storage/support/stores.ts'

/** The leases of a process whose connections can be broken. */
async function startLeases() {
  const server = await sharedPostgres()
  const proxy = await startProxy(server.port)
  const url = await server.createDatabase()
  const through = new Secret(proxy.through(url))
  const database = await openDatabase(through, silentLog)
  const { leave } = await joinCluster(through, database)
  const connections = openConnections(through, 1, { keepIdle: true })
  onTestFinished(async () => {
    await Promise.all([connections.close(), database.close()])
    await leave()
    proxy[Symbol.dispose]()
    await server.dropDatabase(url)
  })
  const renew = createLeaseStore(connections, { health: database.health, now: () => 1_800_000_000_000 })
  return { proxy, url, renew, process: database.process.id() }
}

const bucket = { organization: 'org_acme', kind: 'requests', limit: 100, needs: [3], ahead: 0 } as const
const slots = { organization: 'org_acme', kind: 'concurrent', limit: 10, ahead: 0 } as const

const spentRequests = "SELECT spent FROM rate_limit_buckets WHERE kind = 'requests'"

type Used = { requests: number; tokens: number; rejected: number }

/** Makes one call after the other until it is stopped; without the database, and without a free slot, they are rejected. */
async function callUntil(
  client: LimitsClient,
  who: Parameters<LimitsClient['admit']>[0],
  used: Used,
  stopped: () => boolean,
): Promise<void> {
  while (!stopped())
    try {
      const admission = await client.admit(who)
      used.requests++
      const call = await admission.open(100)
      used.tokens += 130
      await Bun.sleep(5)
      call.release(130)
    } catch (error) {
      if (!(error instanceof ApiError) || ![429, 503].includes(error.status)) throw error
      if (error.status === 503) used.rejected++
      await Bun.sleep(10)
    }
}

describe.skipIf(!hasPostgres)('rate limits in PostgreSQL are exact', () => {
  test('when connections break after a COMMIT was sent, and no such renewal is rejected', async () => {
    const { proxy, url, renew, process } = await startLeases()
    for (let round = 1; round <= 10; round++) {
      if (round > 1) proxy.cutAfterCommit(1)
      const grants = await renew(process, [
        { ...bucket, correction: 0 },
        { ...slots, held: round - 1, needs: [1] },
      ])
      expect(grants).toEqual([
        { granted: [true], ahead: 0, spent: round * 3 * 60_000 },
        { granted: [true], ahead: 0, spent: round },
      ])
    }
    expect(proxy.cutCommits()).toBe(9)
    expect(await execute(url, 'SELECT held FROM slot_leases')).toEqual([{ held: '10' }])
    expect(await execute(url, spentRequests)).toEqual([{ spent: '1800000' }])
  }, 120_000)

  test('when a renewal is lost before its COMMIT, which is rejected and has taken nothing', async () => {
    const { proxy, url, renew, process } = await startLeases()
    await renew(process, [{ ...bucket, correction: 0 }])
    proxy.muteAfter('slot_leases')
    const lost = renew(process, [
      { ...bucket, correction: 7 },
      { ...slots, held: 0, needs: [1, 1, 1, 1] },
    ])
    await expect(lost).rejects.toMatchObject({ status: 503 })
    expect(await execute(url, 'SELECT held FROM slot_leases')).toEqual([])
    expect(await execute(url, spentRequests)).toEqual([{ spent: '180000' }])
  }, 120_000)

  test('when the server does not answer for longer than a request waits', async () => {
    await using leased = await openLeased(openPostgresStore, { concurrent: 10, timeoutMs: 300 })
    const { all, acme, slotRows, untilLeft } = leased
    const server = await sharedPostgres()
    const used: Used = { requests: 0, tokens: 0, rejected: 0 }
    let over = false
    const calls = Array.from({ length: 30 }, (_, index) =>
      callUntil(all[index % all.length]!, acme, used, () => over),
    )
    for (let round = 0; round < 2; round++) {
      const { requests, rejected } = used
      await waitUntil(() => used.requests > requests + 50, 'requests that are admitted')
      signalServer(server, 'SIGSTOP')
      await waitUntil(() => used.rejected > rejected, 'a request that is rejected')
      signalServer(server, 'SIGCONT')
    }
    const { requests } = used
    await waitUntil(() => used.requests > requests + 50, 'requests that are admitted again')
    over = true
    await Promise.all(calls)
    expect(used.rejected).toBeGreaterThan(0)
    await untilLeft('requests', 1e6 - used.requests)
    await untilLeft('tokens', 1e9 - used.tokens)
    await waitUntil(async () => (await slotRows()).length === 0, 'no slots are held')
  }, 120_000)
})

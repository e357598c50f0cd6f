import { isReserved } from '../../support/is-reserved.ts'
import { describe, expect, test } from 'bun:test'
import type { RequestMetadata } from '../../../src/domain/accounting/request-metadata.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { isMade, toRejection, toReserveJob } from '../../../src/storage/postgres/reservations.ts'
import { toWriteRows } from '../../../src/storage/postgres/writes.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { execute, hasPostgres } from '../../support/postgres/server.ts'
import { signalServer } from '../../support/postgres/signal-server.ts'
import { requestOf } from '../../unit/storage/support/ledger-fixture.ts'
import { budget, expectExact, spendDuring, startLedger, type Tally } from './support/postgres-spending.ts'

/** Each insert fails as on a full disk, with the error of the server. */
const fullDisk = [
  `CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
  ...['usage', 'reservations', 'transactions'].map(
    (table) => `CREATE TRIGGER no_space BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION no_space()`,
  ),
]

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503
}

describe.skipIf(!hasPostgres)('a ledger in PostgreSQL is exact', () => {
  test('when connections break in the middle of transactions', async () => {
    const running = await startLedger()
    const tally = await spendDuring(running, async () => {
      for (let round = 0; round < 25; round++) {
        await Bun.sleep(10 + Math.random() * 60)
        running.proxy.cut()
      }
    })
    await expectExact(running, tally)
  }, 120_000)

  test('when connections break after a COMMIT was sent, and no such request is rejected', async () => {
    const running = await startLedger()
    const { proxy, ledger, acme } = running
    const tally: Tally = { charged: new Map(), rejected: 0, unexpected: [] }
    for (let round = 0; round < 15; round++) {
      const request = requestOf(acme)
      proxy.cutAfterCommit(1)
      expect(await isReserved(ledger, { request, amount: 1000n, promptCost: 1n, promptTokens: 7 })).toBe(true)
      proxy.cutAfterCommit(1)
      const settled = await ledger.settle(request, { status: 200, cost: 700n })
      expect(settled).toEqual({ recorded: true, charged: 700n })
      tally.charged.set(request.id, settled.charged)
    }
    expect(proxy.cutCommits()).toBe(30)
    await expectExact(running, tally)
  }, 120_000)

  test('when connections break after the COMMIT of a reservation over a budget was sent, also of one that is refused', async () => {
    const running = await startLedger()
    const { proxy, ledger, acme, url, database } = running
    const tally: Tally = { charged: new Map(), rejected: 0, unexpected: [] }
    /** Not by the ledger, which rejects a caller after two seconds. */
    const reserve = async (request: RequestMetadata, amount: bigint, limit: bigint) => {
      const budgets = [{ ...budget, limit }]
      const reservation = { request, amount, promptCost: 1n, promptTokens: 7, budgets }
      const job = toReserveJob(reservation, toWriteRows(request.id, []), database.process.id())
      proxy.cutAfterCommit(1)
      const row = await database.writer.write(job)
      return isMade(row) ? 'made' : toRejection(job, row)
    }
    for (let round = 0n; round < 8n; round++) {
      const request = { ...requestOf(acme), key: budget.owner }
      const limit = 700n * round + 1000n
      expect(await reserve(request, 1000n, limit)).toBe('made')
      const refusal = { budget: { ...budget, limit }, available: 0n }
      expect(await reserve(requestOf(acme), 1n, limit)).toEqual(refusal)
      proxy.cutAfterCommit(1)
      const settled = ledger.settle(request, { status: 200, cost: 700n })
      await settled.catch((error: unknown) => expect(isUnavailable(error)).toBe(true))
      tally.charged.set(request.id, 700n)
      const isSettled = async () => (await execute(url, 'SELECT FROM reservations')).length === 0
      await waitUntil(isSettled, 'the settlement')
    }
    expect(proxy.cutCommits()).toBe(24)
    await expectExact(running, tally)
  }, 120_000)

  test('when the commit of a credit is cut', async () => {
    const { proxy, organizations, url } = await startLedger()
    for (let round = 0; round < 10; round++) {
      proxy.cutAfterCommit(1)
      await organizations.credit('acme', 5n)
    }
    const [sums] = await execute<Record<string, string>>(
      url,
      'SELECT balance, (SELECT sum(amount) FROM ledger) entries, (SELECT count(*) FROM ledger) count FROM organizations',
    )
    expect(sums).toEqual({
      balance: String(10n ** 12n + 50n),
      entries: String(10n ** 12n + 50n),
      count: '11',
    })
  }, 120_000)

  test('when the server does not answer for longer than a statement may take', async () => {
    const running = await startLedger({ timeoutMs: 500 })
    const tally = await spendDuring(running, async (tally) => {
      await waitUntil(() => tally.charged.size > 50, 'requests that are charged')
      signalServer(running.server, 'SIGSTOP')
      await waitUntil(() => running.database.health.unavailableError() !== undefined, 'an outage')
      signalServer(running.server, 'SIGCONT')
    })
    await expectExact(running, tally)
  }, 120_000)

  test('when each reply of the server takes 200 ms', async () => {
    const running = await startLedger()
    const tally = await spendDuring(running, async () => running.proxy.delay(200))
    expect(tally.rejected).toBe(0)
    await expectExact(running, tally)
  }, 120_000)

  test('when the server has no disk space for a while, and requests are rejected meanwhile', async () => {
    const running = await startLedger()
    const { url, ledger, acme } = running
    const tally = await spendDuring(running, async () => {
      for (const statement of fullDisk) await execute(url, statement)
      const rejected = async () =>
        await ledger.settle(requestOf(acme), { status: 200 }).then(() => false, isUnavailable)
      await waitUntil(rejected, 'a request that is rejected')
      await execute(url, 'DROP FUNCTION no_space() CASCADE')
    })
    expect(tally.rejected).toBeGreaterThan(0)
    await expectExact(running, tally)
  }, 120_000)

  test('when the server crashes and is started again', async () => {
    const running = await startLedger()
    const tally = await spendDuring(running, async (tally) => {
      await waitUntil(() => tally.charged.size > 50, 'requests that are charged')
      await running.server.stop('SIGQUIT')
      await waitUntil(() => running.database.health.unavailableError() !== undefined, 'an outage')
      await expect(running.ledger.settle(requestOf(running.acme), { status: 200 })).rejects.toMatchObject({
        status: 503,
      })
      await running.server.start()
    })
    await expectExact(running, tally)
  }, 120_000)
})

describe.skipIf(!hasPostgres)('a reservation in PostgreSQL', () => {
  test('whose caller was rejected before its outcome was known is released', async () => {
    const running = await startLedger({ outcomeTimeoutMs: 100, timeoutMs: 500 })
    const { ledger, acme, url } = running
    const before = requestOf(acme)
    await ledger.reserve({ request: before, amount: 10n, promptCost: 1n, promptTokens: 7 })
    signalServer(running.server, 'SIGSTOP')
    const late = {
      request: requestOf(acme),
      amount: 1000n,
      promptCost: 1n,
      promptTokens: 7,
      budgets: [budget],
    }
    const reserved = ledger.reserve(late)
    await expect(reserved).rejects.toMatchObject({ status: 503 })
    signalServer(running.server, 'SIGCONT')
    const open = () => execute<{ request_id: string }>(url, 'SELECT request_id FROM reservations')
    await waitUntil(
      async () =>
        await isReserved(ledger, {
          request: requestOf(acme),
          amount: 1n,
          promptCost: 1n,
          promptTokens: 7,
        }).catch(() => false),
      'a reservation',
    )
    await waitUntil(async () => (await open()).length === 2, 'the release of the reservation')
    const sums = 'SELECT reserved, (SELECT coalesce(sum(reserved), 0) FROM budgets) budget FROM organizations'
    expect(await execute(url, sums)).toEqual([{ reserved: '11', budget: '0' }])
  }, 120_000)
})

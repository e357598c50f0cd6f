import { isReserved } from '../../support/is-reserved.ts'
import { afterAll, describe, expect, onTestFinished, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { createLedger } from '../../../src/storage/postgres/ledger.ts'
import { type DatabaseOptions, openDatabase } from '../../../src/storage/postgres/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organizations.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { signalServer } from '../../support/postgres/signal-server.ts'
import { joinCluster } from '../../../src/storage/postgres/cluster/cluster.ts'
import { quietLog } from '../../unit/storage/support/folder.ts'
import { requestOf } from '../../unit/storage/support/ledger-fixture.ts'

let server: PostgresServer | undefined
afterAll(() => server?.dispose())

/** The ledger of a prepaid organization, on a connection that can be broken. */
async function startLedger(options: DatabaseOptions = {}) {
  server ??= await startPostgres({ durable: true })
  const proxy = await startProxy(server.port)
  const url = await server.createDatabase()
  const database = await openDatabase(new Secret(proxy.through(url)), quietLog, options)
  const { leave } = await joinCluster(new Secret(url), database)
  const ledger = createLedger(database)
  onTestFinished(async () => {
    ledger.close()
    await database.close()
    await leave()
    proxy[Symbol.dispose]()
  })
  const organizations = createOrganizations(createScriptRunner(database))
  const acme = await organizations.create('acme')
  await organizations.credit('acme', 10n ** 12n)
  return { server, proxy, url, database, ledger, organizations, acme: acme.id }
}

type Running = Awaited<ReturnType<typeof startLedger>>

type Tally = { readonly charged: Map<string, bigint>; rejected: number; unexpected: unknown[] }

/** Reserves and settles one request after the other until it is stopped; an outage is expected to be a 503. */
async function spend({ ledger, acme }: Running, tally: Tally, stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    const request = requestOf(acme)
    try {
      const reservation = { request, amount: 1000n, promptCost: 10n, promptTokens: 7 }
      if (!(await isReserved(ledger, reservation))) tally.unexpected.push('not reserved')
      const { charged, recorded } = await ledger.settle(request, { status: 200, cost: 700n })
      if (recorded) tally.charged.set(request.id, charged)
      else tally.unexpected.push('not recorded')
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503) tally.unexpected.push(error)
      tally.rejected++
      await Bun.sleep(5)
    }
  }
}

/** Spends with many requests at once while `disturb` runs; returns what was acknowledged. */
async function spendDuring(running: Running, disturb: (tally: Tally) => Promise<void>): Promise<Tally> {
  const tally: Tally = { charged: new Map(), rejected: 0, unexpected: [] }
  let over = false
  const spenders = Array.from({ length: 20 }, () => spend(running, tally, () => over))
  await disturb(tally)
  const before = tally.charged.size
  await waitUntil(() => tally.charged.size > before + 50, 'requests that are charged again')
  over = true
  await Promise.all(spenders)
  return tally
}

/** Every acknowledged charge is in the ledger and in the usage, once; every request that was rejected is charged or released. */
async function expectExact({ url }: Running, { charged, unexpected }: Tally): Promise<void> {
  expect(unexpected).toEqual([])
  const isDone = async () => (await execute(url, 'SELECT FROM reservations')).length === 0
  await waitUntil(isDone, 'no open reservation')
  const entries = await execute<{ request_id: string; amount: string }>(
    url,
    "SELECT request_id, amount FROM ledger WHERE kind = 'charge'",
  )
  const stored = new Map(entries.map(({ request_id, amount }) => [request_id, -BigInt(amount)]))
  expect(stored.size).toBe(entries.length)
  for (const [id, amount] of charged) expect([id, stored.get(id)]).toEqual([id, amount])
  const [sums] = await execute<Record<string, string>>(
    url,
    `SELECT balance, reserved, (SELECT sum(amount) FROM ledger) entries,
      (SELECT count(*) FROM usage WHERE cost IS NOT NULL) usage FROM organizations`,
  )
  expect([sums?.balance, sums?.reserved]).toEqual([sums?.entries, '0'])
  expect(Number(sums?.usage)).toBe(entries.length)
}

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
    const reserved = ledger.reserve({
      request: requestOf(acme),
      amount: 1000n,
      promptCost: 1n,
      promptTokens: 7,
    })
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
    const [sums] = await execute<{ reserved: string }>(url, 'SELECT reserved FROM organizations')
    expect(sums?.reserved).toBe('11')
  }, 120_000)
})

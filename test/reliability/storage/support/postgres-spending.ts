import { afterAll, expect, onTestFinished } from 'bun:test'
import { ApiError } from '../../../../src/lib/errors/errors.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { joinCluster } from '../../../../src/storage/postgres/cluster/cluster.ts'
import { type DatabaseOptions, openDatabase } from '../../../../src/storage/postgres/connection/database.ts'
import { createLedger } from '../../../../src/storage/postgres/ledger.ts'
import { createScriptRunner } from '../../../../src/storage/postgres/run-script.ts'
import { createOrganizations } from '../../../../src/storage/scripts/organization-changes.ts'
import { waitUntil } from '../../../support/billing-database.ts'
import { isReserved } from '../../../support/is-reserved.ts'
import { startProxy } from '../../../support/postgres/proxy.ts'
import { execute, type PostgresServer, startPostgres } from '../../../support/postgres/server.ts'
import { requestOf } from '../../../unit/storage/support/ledger-fixture.ts'
import { testChange } from '../../../support/actor.ts'

let server: PostgresServer | undefined
afterAll(() => server?.dispose())

/** The ledger of a prepaid organization, on a connection that can be broken. */
export async function startLedger(options: DatabaseOptions = {}) {
  server ??= await startPostgres({ durable: true })
  const proxy = await startProxy(server.port)
  const url = await server.createDatabase()
  const database = await openDatabase(new Secret(proxy.through(url)), silentLog, options)
  const { leave } = await joinCluster(new Secret(url), database)
  const ledger = createLedger(database)
  onTestFinished(async () => {
    ledger.close()
    await database.close()
    await leave()
    proxy[Symbol.dispose]()
  })
  const organizations = createOrganizations(createScriptRunner(database), testChange)
  const acme = await organizations.create('acme')
  await organizations.credit('acme', 10n ** 12n)
  return { server, proxy, url, database, ledger, organizations, acme: acme.id }
}

export type Running = Awaited<ReturnType<typeof startLedger>>

export type Tally = { readonly charged: Map<string, bigint>; rejected: number; unexpected: unknown[] }

/** The budget of the requests whose key has this name. */
export const budget = { owner: 'counted', start: 0, limit: 10n ** 12n }

/**
 * Reserves and settles one request after the other until it is stopped, every other one within a budget; an outage is
 * expected to be a 503.
 */
async function spend({ ledger, acme }: Running, tally: Tally, stopped: () => boolean): Promise<void> {
  for (let count = 0; !stopped(); count++) {
    const counted = count % 2 === 1
    const request = { ...requestOf(acme), ...(counted && { key: budget.owner }) }
    try {
      const reservation = { request, amount: 1000n, promptCost: 10n, promptTokens: 7 }
      const budgets = counted ? [budget] : []
      if (!(await isReserved(ledger, { ...reservation, budgets }))) tally.unexpected.push('not reserved')
      const outcome = { status: 200, cost: 700n }
      const { charged, recorded } = await ledger.settle(request, outcome, { budgeted: counted })
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
export async function spendDuring(
  running: Running,
  disturb: (tally: Tally) => Promise<void>,
): Promise<Tally> {
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
export async function expectExact({ url }: Running, { charged, unexpected }: Tally): Promise<void> {
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
  const [uses = none] = await execute<Record<string, string>>(
    url,
    'SELECT spent, reserved, held FROM budgets',
  )
  const [counted] = await execute<Record<string, string>>(
    url,
    `SELECT coalesce(sum(cost), 0)::text spent FROM usage WHERE key_id = '${budget.owner}'`,
  )
  expect(uses).toEqual({ ...none, ...counted })
}

const none = { spent: '0', reserved: '0', held: '0' }

import { expect, test } from 'bun:test'
import type { RequestOptions } from '../../support/app.ts'
import { cancelledRun, queueRun } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { silence } from '../../support/script.ts'

/** A gateway with eight slots, whose provider never responds. */
const startBusy = () => startBillingScenario(silence, { settings: { background: { concurrency: 8 } } })

async function organizationOf({ billing }: BillingScenario, name: string): Promise<RequestOptions> {
  await billing.fund(name, '0', 'unmetered')
  return { headers: { authorization: `Bearer ${await billing.keyOf(name)}` } }
}

/** The number of runs in progress by the name of their organization. */
async function started({ billing }: BillingScenario): Promise<Record<string, number>> {
  const rows = await billing.values(
    'SELECT o.name, count(*) FROM responses r JOIN organizations o ON o.id = r.organization_id ' +
      "WHERE r.status = 'in_progress' GROUP BY o.name ORDER BY o.name",
  )
  return Object.fromEntries(rows.map(([name, count]) => [String(name), Number(count)]))
}

/** Waits until that many runs have reached the provider, and returns them. */
async function startedOnce(paid: BillingScenario, count: number): Promise<Record<string, number>> {
  await paid.acme.request(count - 1)
  await waitUntil(async () => {
    const counts = Object.values(await started(paid))
    return counts.reduce((sum, each) => sum + each, 0) >= count
  }, `${count} runs in progress`)
  return await started(paid)
}

async function queueMany(paid: BillingScenario, count: number, options: RequestOptions): Promise<string[]> {
  const runs = await Promise.all(Array.from({ length: count }, () => queueRun(paid.app, {}, options)))
  return runs.map(({ id }) => id)
}

test('runs that hang leave a quarter of the slots to organizations that have none in progress', async () => {
  await using paid = await startBusy()
  const names = ['busy', 'late', 'third']
  const [busy, late, third] = await Promise.all(names.map((name) => organizationOf(paid, name)))
  await queueMany(paid, 300, busy!)
  expect(await startedOnce(paid, 6)).toEqual({ busy: 6 })
  // Behind all of them; its second run has to wait, too.
  await queueMany(paid, 2, late!)
  expect(await startedOnce(paid, 7)).toEqual({ busy: 6, late: 1 })
  await queueMany(paid, 2, third!)
  expect(await startedOnce(paid, 8)).toEqual({ busy: 6, late: 1, third: 1 })
  expect(paid.acme.requests).toHaveLength(8)
}, 120_000)

test('a slot that becomes free is left to organizations without a run as well', async () => {
  await using paid = await startBusy()
  const [busy, late, third] = await Promise.all(
    ['busy', 'late', 'third'].map((name) => organizationOf(paid, name)),
  )
  await queueMany(paid, 20, busy!)
  await startedOnce(paid, 6)
  await queueMany(paid, 1, late!)
  await startedOnce(paid, 7)
  const [oldest] = await paid.billing.values(
    "SELECT id FROM responses WHERE status = 'in_progress' ORDER BY id LIMIT 1",
  )
  const app = {
    request: (path: string, options: RequestOptions = {}) => paid.app.request(path, { ...options, ...busy }),
  }
  await cancelledRun(app, String(oldest?.[0]))
  await queueMany(paid, 1, third!)
  await paid.acme.request(7)
  expect(await startedOnce(paid, 7)).toEqual({ busy: 5, late: 1, third: 1 })
  expect(paid.acme.requests).toHaveLength(8)
}, 120_000)

test('the only organization takes all slots', async () => {
  await using paid = await startBusy()
  await queueMany(paid, 12, {})
  expect(await startedOnce(paid, 8)).toEqual({ default: 8 })
  expect(paid.acme.requests).toHaveLength(8)
}, 120_000)

import { describe, expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { createLog, silentLog } from '../../../src/lib/log.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { startBudgetReturns, sweep } from '../../../src/storage/retention.ts'
import { expireUsage } from '../../../src/storage/scripts/usage-expiry.ts'
import { prepareUsageInsert } from '../../../src/storage/sqlite/ledger-statements.ts'
import type { Database } from '../../../src/storage/sqlite/connection/database.ts'
import { createSubtractDeleted } from '../../../src/storage/sqlite/usage-totals.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { startBillingScenario, replyCost } from '../../support/billing-scenario.ts'
import { startApp } from '../../support/app.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { connectDatabase, newDatabase } from '../../support/database-connection.ts'
import { plansOf } from '../../support/query-plans.ts'
import { chatRequest as river } from '../../support/scenario.ts'
import { listCompletionIds, storeCompletion } from '../../support/stored-completions.ts'
import { temporaryFolder, testStorage } from './support/folder.ts'
import { requestOf } from './support/ledger-fixture.ts'
import { testActor } from '../../support/actor.ts'

/** A step with so much to do, a piece each time. */
function stepOf(name: string, pieces: number) {
  const step = { name, left: pieces, asked: 0 }
  return Object.assign(step, { run: async () => (step.asked++, step.left > 0 ? step.left-- : 0) })
}

function recordingLog() {
  const lines: string[] = []
  return { lines, log: createLog((line) => lines.push(line)) }
}

describe('a sweep', () => {
  test('runs each step until it has nothing left to delete', async () => {
    const { lines, log } = recordingLog()
    const steps = [stepOf('one', 3), stepOf('two', 0), stepOf('three', 1)]
    await sweep(steps, log, new AbortController().signal)
    expect(steps.map(({ left, asked: requested }) => [left, requested])).toEqual([
      [0, 4],
      [0, 1],
      [0, 2],
    ])
    expect(lines).toEqual([])
  })

  test('continues after a step that fails, and reports which one', async () => {
    const { lines, log } = recordingLog()
    const broken = { name: 'broken', run: () => Promise.reject(new Error('The disk is full.')) }
    const step = stepOf('one', 1)
    await sweep([broken, step], log, new AbortController().signal)
    expect(step.left).toBe(0)
    expect(lines).toHaveLength(1)
    expect(lines.join()).toContain('"step":"broken"')
  })

  test('ends silently when it is stopped', async () => {
    const { lines, log } = recordingLog()
    const stopping = new AbortController()
    const endless = { name: 'endless', run: async () => (stopping.abort(), 1) }
    const later = stepOf('later', 1)
    await sweep([endless, later], log, stopping.signal)
    expect(later.asked).toBe(0)
    expect(lines).toEqual([])
  })
})

const request = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }

test('with a retention, completions are deleted when they are older', async () => {
  const created = await newDatabase()
  onTestFinished(created.delete)
  const database = created.location
  await using app = await startApp({
    settings: { retention: { completions: '1h' } },
    sweepInterval: 10,
    database,
  })
  const [old, recent] = [await storeCompletion(app, request), await storeCompletion(app, request)]
  await using connection = await connectDatabase(database)
  await connection.rows('UPDATE completions SET sequence = 1 WHERE id = ?', old.id)
  await waitUntil(async () => (await listCompletionIds(app)).length < 2, 'the old one is gone')
  expect(await listCompletionIds(app)).toEqual([recent.id])
  expect(app.lines).toEqual([])
})

test('with a retention, usage is deleted when it is older, and the ledger and its balance stay', async () => {
  const retention = { usage: '100ms' }
  await using paid = await startBillingScenario(jsonReply(), { settings: { retention }, sweepInterval: 10 })
  for (let count = 0; count < 3; count++) expect((await paid.app.chat(river)).status).toBe(200)
  await waitUntil(async () => (await paid.billing.usage()).length === 0, 'the usage is gone')
  expect(await paid.billing.entries()).toHaveLength(4)
  expect(await paid.billing.account()).toEqual([1e9 - 3 * replyCost, 0])
  await paid.billing.expectConsistent()
  expect(paid.app.lines).toEqual([])
})

test('with a retention, entries of the audit log are deleted when they are older', async () => {
  const retention = { audit: '100ms' }
  await using paid = await startBillingScenario(jsonReply(), { settings: { retention }, sweepInterval: 10 })
  await paid.billing.organizations.create('acme')
  await waitUntil(async () => (await paid.billing.count('audit_entries')) === 0, 'the entries are gone')
  expect((await paid.billing.organizations.list()).map(({ name }) => name)).toContain('acme')
  expect(paid.app.lines).toEqual([])
})

test('the budgets of keys that have ended return to those that created them, without a request', async () => {
  const storage = await openStorage(join(temporaryFolder(), 'weir.db'), silentLog)
  const { organizations, keys, budgets } = storage.managed.by(testActor)
  const { id } = await organizations.create('acme')
  const input = { organization: 'acme', name: 'agents', expiresAt: null, budget: 1000n }
  const { record: parent } = await keys.create(input)
  const { record: minted } = await keys.mint(parent.id, { name: 'run', expiresAt: null, budget: 300n })
  const allocated = async () => (await budgets.read(id, [{ owner: parent.id, start: 0 }]))[0]?.allocated
  expect(await allocated()).toBe(300n)
  await keys.revoke(minted.id)
  const returns = startBudgetReturns(storage, () => true, silentLog)
  await waitUntil(async () => (await allocated()) === 0n, 'the return')
  returns.stop()
  await storage.close()
})

test('a step of usage retention is bounded in rows and bytes, and deletes the oldest rows first', () => {
  const { database } = testStorage()
  const { sqlite } = database
  sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'acme', 1)")
  const record = prepareUsageInsert(database)
  const times = Array.from({ length: 300 }, (_, index) => 1000 + index)
  for (const createdAt of times) record({ ...requestOf('org_1'), createdAt }, { status: 200 })
  record({ ...requestOf('org_1'), createdAt: 1, user: 'x'.repeat(3_000_000) }, { status: 200 })
  record({ ...requestOf('org_1'), createdAt: 2, user: 'x'.repeat(3_000_000) }, { status: 200 })
  const expire = (before: number) => expireFrom(database, before)
  const left = () => sqlite.query<[number], []>('SELECT created_at FROM usage').values().flat()
  expect([expire(1250), left()]).toEqual([1, [2, ...times]])
  expect([expire(1250), left()]).toEqual([200, times.slice(199)])
  expect([expire(1250), expire(1250), left()]).toEqual([51, 0, times.slice(250)])
})

test('expired usage is found and deleted by its time, without a scan of the rest', () => {
  const { database } = testStorage()
  database.sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'acme', 1)")
  prepareUsageInsert(database)({ ...requestOf('org_1'), createdAt: 1 }, { status: 200 })
  const expiring = plansOf(database, (recorded) => expireFrom(recorded, 2))
  const ofUsage = [...expiring].filter(([text]) => / from "usage"\s/.test(text))
  const plans = ofUsage.map(([, plan]) => plan)
  expect(plans).toHaveLength(2)
  for (const plan of plans) expect(plan).toMatch(/^SEARCH usage USING PRIMARY KEY \([^;]*<[^;]*\)$/)
})

function expireFrom(database: Database, before: number): number {
  return database.run(expireUsage(before, createSubtractDeleted(database)))
}

import { expect, test } from 'bun:test'
import { createBilling } from '../../../src/gateway/billing/billing.ts'
import type { Disk } from '../../../src/storage/sqlite/connection/disk.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { testDatabase } from '../storage/support/folder.ts'
import { finished } from '../storage/support/response-fixture.ts'

const organization = 'org_acme'
const request = { id: 'req_1', organization, key: 'k', createdAt: 0, api: 'chat', stream: false } as const
const bound = { promptTokens: 1, promptCost: 1n, maxCost: 50n }

/** The billing of a prepaid organization, whose requests are stored on this disk. */
function scenario(disk?: Disk) {
  const database = testDatabase()
  const { sqlite } = database
  sqlite.run(
    `INSERT INTO organizations (id, name, created_at, billing, balance) VALUES ('${organization}', 'acme', 0, 'prepaid', 100)`,
  )
  const writer = new Writer(database, disk ? { disk } : {})
  const billing = createBilling(createLedger(database, writer), () => undefined)
  return { sqlite, billing }
}

test('an answer is delivered although its organization was deleted while it was generated', async () => {
  const { sqlite, billing } = scenario()
  await billing.reserve(request, { billing: 'prepaid', budgets: [] }, () => bound)
  sqlite.run('DELETE FROM reservations')
  sqlite.run('DELETE FROM organizations')
  await billing.settle(request, { status: 200, cost: 10n })
})

test('a stored answer is delivered although the disk confirmed it only at the second attempt', async () => {
  let failures = 1
  const disk = {
    sync: (done: (failure: unknown) => void) =>
      done(failures-- > 0 ? Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' }) : undefined),
    syncNow() {},
    fix() {},
    close() {},
  }
  const { sqlite, billing } = scenario(disk)
  const response = finished(organization)
  await billing.settle(request, { status: 200 }, [{ kind: 'insert-response', response }])
  expect(sqlite.prepare('SELECT id FROM responses').values()).toHaveLength(1)
})

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { silentLog } from '../../../src/lib/log.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { startScript, temporaryFolder } from '../../unit/storage/support/folder.ts'
import { expectConsistentLedger } from '../../unit/storage/support/ledger-fixture.ts'
import { testChange } from '../../support/actor.ts'

test('a process that is killed during requests leaves a consistent ledger, and every request is charged once', async () => {
  const file = join(temporaryFolder(), 'weir.db')
  const organizations = await fundedOrganizations(file)
  const acknowledged: string[] = []
  for (const enough of [1, 300, 3000, 40, 1500]) {
    acknowledged.push(...(await acknowledgedBeforeKill(file, organizations, enough)))
    await checkAndRecover(file, acknowledged)
  }
  expect(acknowledged.filter((line) => line.startsWith('settled')).length).toBeGreaterThan(1000)
})

async function fundedOrganizations(file: string): Promise<string[]> {
  const database = openDatabase(file, silentLog)
  const organizations = createOrganizations(createScriptRunner(database, new Writer(database)), testChange)
  for (const name of ['rich', 'poor']) await organizations.create(name)
  const accounts = [
    await organizations.credit('rich', 10n ** 12n),
    // Enough for some requests only, so that refusals and write-offs are among what is killed.
    await organizations.credit('poor', 30_000n),
  ]
  database.close()
  return accounts.map(({ id }) => id)
}

/** The lines that the process told before it was killed, soon after it had told `enough` of them. */
async function acknowledgedBeforeKill(
  file: string,
  organizations: readonly string[],
  enough: number,
): Promise<string[]> {
  const child = startScript('reliability/storage/support/spend-forever.ts', file, ...organizations)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true })
    if (text.split('\n', enough + 1).length > enough) child.kill('SIGKILL')
  }
  await child.exited
  // What follows the last line end was cut off by the kill.
  return text.split('\n').slice(0, -1)
}

/** What the requests that count against budgets have cost. */
const selectCounted = `SELECT organization_id, sum(cost), 0 FROM usage WHERE key_id = 'counted'
  GROUP BY organization_id ORDER BY 1`

type UsageRow = { readonly cost: number; readonly status: number }

async function checkAndRecover(file: string, acknowledged: readonly string[]): Promise<void> {
  const database = openDatabase(file, silentLog)
  expectConsistentLedger(database.sqlite)
  await createLedger(database, new Writer(database)).recover()
  expectConsistentLedger(database.sqlite)
  expect(database.sqlite.prepare('SELECT count(*) FROM reservations').values()).toEqual([[0]])
  expect(
    database.sqlite.prepare('SELECT owner_id, spent, reserved FROM budgets ORDER BY 1').values(),
  ).toEqual(database.sqlite.prepare(selectCounted).values())
  const find = database.sqlite.prepare<UsageRow, [string]>('SELECT cost, status FROM usage WHERE id = ?')
  const charged = database.sqlite.prepare('SELECT sum(-amount) FROM ledger WHERE request_id = ? AND kind = ?')
  for (const line of acknowledged) {
    const [word, id = '', nanos] = line.split(' ')
    const row = find.get(id)
    if (word === 'settled') expect([line, row]).toEqual([line, { cost: Number(nanos), status: 200 }])
    // Its settlement may have been on disk without having been told.
    else if (row?.status !== 200) expect([line, row]).toEqual([line, { cost: Number(nanos), status: 0 }])
    expect(charged.values(id, 'charge')).toEqual([[row?.cost || null]])
  }
  database.close()
}

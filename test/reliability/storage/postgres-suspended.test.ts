import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openDatabase } from '../../../src/storage/postgres/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { testChange } from '../../support/actor.ts'

describe.skipIf(!hasPostgres)('a process that is suspended in the middle of a transaction', () => {
  test.each([
    ['its last statement', false],
    ['a statement that is not the last one', true],
  ])('behind %s does not keep the others from writing, and writes when it goes on', async (_, goesOn) => {
    const server = await sharedPostgres()
    const url = await server.createDatabase()
    const [suspended, other] = await Promise.all([open(url), open(url)])
    await createOrganizations(createScriptRunner(other), testChange).create('acme')
    const [locked, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const change = "UPDATE organizations SET balance = balance + 1 WHERE name = 'acme'"
    const ended = suspended.transact(async (query) => {
      await query(change)
      locked.resolve()
      await resumed.promise
      if (goesOn) await query(change)
    })
    await locked.promise
    await other.transact((query) => query(change))
    expect(await other.query('SELECT balance FROM organizations')).toEqual([{ balance: 1 }])
    // Its transaction was rolled back, and runs again.
    resumed.resolve()
    await ended
    expect(await other.query('SELECT balance FROM organizations')).toEqual([{ balance: goesOn ? 3 : 2 }])
  })

  test('runs its transaction again where it is told only by the reply to its next statement', async () => {
    const database = await open(await (await sharedPostgres()).createDatabase())
    await createOrganizations(createScriptRunner(database), testChange).create('acme')
    let runs = 0
    await database.transact(async (query) => {
      await query('UPDATE organizations SET balance = balance + 1')
      // Nothing is read meanwhile, as when the operating system stops the process.
      if (++runs === 1) Bun.sleepSync(2000)
      await query('UPDATE organizations SET balance = balance + 1')
    })
    expect(await database.query('SELECT balance FROM organizations')).toEqual([{ balance: 2 }])
  })
})

async function open(url: string) {
  const database = await openDatabase(new Secret(url), silentLog)
  onTestFinished(() => database.close())
  return database
}

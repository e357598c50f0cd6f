import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { openDatabase } from '../../../src/storage/postgres/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { quietLog } from '../../unit/storage/support/folder.ts'
import { testActor } from '../../support/actor.ts'

describe.skipIf(!hasPostgres)('a process that is suspended in the middle of a transaction', () => {
  test('does not keep the others from writing', async () => {
    const server = await sharedPostgres()
    const url = await server.createDatabase()
    const [suspended, other] = await Promise.all([open(url), open(url)])
    await createOrganizations(createScriptRunner(other), testActor).create('acme')
    const [locked, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const change = "UPDATE organizations SET balance = balance + 1 WHERE name = 'acme'"
    const ended = suspended.transact(async (query) => {
      await query(change)
      locked.resolve()
      await resumed.promise
    })
    await locked.promise
    await other.transact((query) => query(change))
    expect(await other.query('SELECT balance FROM organizations')).toEqual([{ balance: 1 }])
    // Its transaction was rolled back, and runs again.
    resumed.resolve()
    await ended
    expect(await other.query('SELECT balance FROM organizations')).toEqual([{ balance: 2 }])
  })
})

async function open(url: string) {
  const database = await openDatabase(new Secret(url), quietLog)
  onTestFinished(() => database.close())
  return database
}

import { describe, expect, onTestFinished, test } from 'bun:test'
import { Client } from 'pg'
import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openConnections } from '../../../src/storage/postgres/connection/connections.ts'
import { migrate, migrations } from '../../../src/storage/postgres/connection/migrate.ts'
import { type App, startApp } from '../../support/app.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { openBillingDatabase, waitUntil } from '../../support/billing-database.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { createResponse, retrieveResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

/** A gateway of a prepaid organization, and what a newer version would do to its database. */
async function startGateway(...replies: readonly Script[]) {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const database = new Secret(url)
  const { app, ...scenario } = await startScenario(replies, {
    database,
    model: { pricing, max_output_tokens: 100 },
  })
  const connections = openConnections(database, 1)
  onTestFinished(async () => {
    await connections.close()
    await scenario[Symbol.asyncDispose]()
    await server.dropDatabase(url)
  })
  await using billing = await openBillingDatabase(database)
  await billing.fund('default', '1')
  const charge = async () => {
    await app.chat(chatRequest)
    return (await execute(url, 'SELECT FROM ledger')).length > 1
  }
  // A change of the billing applies within a second.
  await waitUntil(charge, 'a request that is charged')
  return {
    url,
    database,
    app,
    /** Migrates the database one step further than this version knows. */
    migrate: (added: string) => migrate(connections, 'weir', [...migrations, added], silentLog),
  }
}

/** Adds a column to each table, one for which every row needs a value. */
async function addedColumns(url: string): Promise<string> {
  const tables = await execute<{ readonly tablename: string }>(
    url,
    "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_version'",
  )
  return tables
    .map(({ tablename }) => `ALTER TABLE ${tablename} ADD COLUMN added text DEFAULT 'new' NOT NULL`)
    .join('\n--> statement-breakpoint\n')
}

/** Sends requests until the work has ended, and returns the statuses. */
async function chatDuring(app: App, work: Promise<unknown>) {
  const statuses = new Set<number>()
  const progress = { ended: false }
  const ending = work.finally(() => (progress.ended = true))
  do statuses.add((await app.chat(chatRequest)).status)
  while (!progress.ended)
  await ending
  return { statuses: [...statuses] }
}

/** The statement of a migration that waits for a lock of another transaction. */
const lockWait =
  "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' " +
  "AND query LIKE '%ALTER TABLE%'"

describe.skipIf(!hasPostgres)('a gateway whose PostgreSQL database a newer version migrates', () => {
  test('still serves everything, and does not start again', async () => {
    const { app, url, database, migrate } = await startGateway(jsonReply())
    const stored = await createResponse(app, { input: 'before' })
    const { statuses } = await chatDuring(app, migrate(await addedColumns(url)))
    expect(statuses).toEqual([200])
    expect(await retrieveResponse(app, stored.id)).toEqual(stored)
    expect(await createResponse(app, { previous_response_id: stored.id })).toMatchObject({
      status: 'completed',
    })
    expect((await app.chat({ ...chatRequest, store: true })).status).toBe(200)
    expect(await execute(url, 'SELECT added FROM completions')).toEqual([{ added: 'new' }])
    const beats = async () => (await execute<{ beat: string }>(url, 'SELECT beat FROM processes'))[0]?.beat
    const before = await beats()
    await waitUntil(async () => (await beats()) !== before, 'a sign of life')
    expect((await app.request('/readyz')).status).toBe(200)
    const again = startApp({ database })
    await expect(again).rejects.toThrow(
      `was written by a newer version of weir (schema ${migrations.length + 1}, this one supports ${migrations.length})`,
    )
  }, 120_000)

  test('executes background runs', async () => {
    const { app, url, migrate } = await startGateway(jsonReply(), streamReply())
    await migrate(await addedColumns(url))
    const { id } = await queueRun(app)
    expect(await waitForRun(app, id)).toMatchObject({ status: 'completed' })
  }, 120_000)

  test('waits for no long transaction that the migration waits for', async () => {
    const { app, url, migrate } = await startGateway(jsonReply())
    const reader = new Client({ connectionString: url })
    await reader.connect()
    await reader.query({ text: 'BEGIN' })
    await reader.query({ text: 'SELECT FROM organizations, usage, reservations LIMIT 1' })
    const migrated = migrate(await addedColumns(url))
    const waits = () => execute(url, lockWait)
    // Its first attempt waits for the transaction, and ends without the lock; so does the second one.
    for (const attempt of ['first', 'second']) {
      await waitUntil(async () => (await waits()).length > 0, `the ${attempt} attempt waits`)
      expect((await app.chat(chatRequest)).status).toBe(200)
      await waitUntil(async () => (await waits()).length === 0, `the ${attempt} attempt has ended`)
      expect((await app.chat(chatRequest)).status).toBe(200)
    }
    await reader.end()
    const { statuses } = await chatDuring(app, migrated)
    expect(statuses).toEqual([200])
    expect(await execute(url, 'SELECT version FROM schema_version')).toEqual([
      { version: migrations.length + 1 },
    ])
  }, 120_000)
})

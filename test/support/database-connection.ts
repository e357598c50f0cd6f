import type { ManagedStores } from '../../src/storage/ports/storage.ts'
import { createScriptRunner } from '../../src/storage/sqlite/script-runner.ts'
import { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Secret } from '../../src/lib/secret.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { DatabaseLocation } from '../../src/storage/database-location.ts'
import type { Database as PostgresDatabase } from '../../src/storage/postgres/connection/database.ts'
import { createScriptRunner as createPostgresRunner } from '../../src/storage/postgres/run-script.ts'
import { openDatabase as openSqlite } from '../../src/storage/sqlite/connection/database.ts'
import { operatorReport } from '../../src/storage/usage/operator-report.ts'
import { operatorReports } from '../../src/storage/usage/report-slots.ts'
import { createUsageReports, type UsageSource } from '../../src/storage/usage/reports.ts'
import { createUsageSource } from '../../src/storage/sqlite/usage-source.ts'
import { createRollup } from '../../src/storage/sqlite/usage-totals.ts'
import { createRollup as createPostgresRollup } from '../../src/storage/postgres/usage-rollup.ts'
import { createUsageSource as createPostgresSource } from '../../src/storage/postgres/usage-source.ts'
import type { UsageQuery, UsageReport } from '../../src/storage/ports/usage.ts'
import { createManagedStores } from '../../src/storage/scripts/managed-stores.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { createMigratedFile } from './migrated-file.ts'
import { createMigratedDatabase } from './postgres/migrated-database.ts'
import { openTestDatabase } from './postgres/open-database.ts'
import { sharedPostgres, testsUsePostgres } from './postgres/server.ts'
import { testActor } from './actor.ts'

/** A value of a column; booleans are numbers. */
export type Value = string | number | bigint | null

/** A database of a gateway that may be running, on separate connections. */
export type DatabaseConnection = AsyncDisposable &
  ManagedStores & {
    /** Runs SQL that every store understands, with a `?` for each parameter; resolves with the rows. */
    rows<Row extends object = Readonly<Record<string, Value>>>(
      sql: string,
      ...parameters: readonly Value[]
    ): Promise<Row[]>
    /** The same with a list of values for each row. */
    values(sql: string, ...parameters: readonly Value[]): Promise<Value[][]>
    /** What `weir usage` reports. */
    report(query: UsageQuery): Promise<UsageReport>
    /** Adds some rows to the totals of usage, as a gateway does from time to time. */
    rollUp(): Promise<number>
    /** Keeps everybody else from writing, as another process could. */
    lock(): Promise<DatabaseLock>
  }

export type DatabaseLock = AsyncDisposable & { release(): Promise<void> }

/** A database of a test. */
export type NewDatabase = { readonly location: DatabaseLocation; delete(): Promise<void> }

/** Creates a migrated database without rows: a SQLite file in a folder of its own, or with WEIR_TEST_DATABASE=postgres one in PostgreSQL. */
export async function newDatabase(): Promise<NewDatabase> {
  if (testsUsePostgres) return await newPostgresDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'weir-database-'))
  const location = createMigratedFile(folder)
  return { location, delete: async () => rmSync(folder, { recursive: true, force: true }) }
}

/** Creates a migrated database without rows in PostgreSQL. */
export async function newPostgresDatabase(): Promise<NewDatabase> {
  const [server, url] = [await sharedPostgres(), await createMigratedDatabase()]
  return { location: new Secret(url), delete: () => server.dropDatabase(url) }
}

/** The variables that make the command line use this database. */
export function databaseEnvironment(location: DatabaseLocation): Readonly<Record<string, string>> {
  return typeof location === 'string'
    ? { WEIR_DATA: dirname(location) }
    : { WEIR_DATABASE: location.reveal() }
}

/** The path of a SQLite database; throws for any other one. */
export function sqliteFile(location: DatabaseLocation): string {
  if (typeof location !== 'string') throw new Error('This test needs a SQLite file.')
  return location
}

/** Opens the database of a gateway, and creates it if necessary. */
export function connectDatabase(location: DatabaseLocation): Promise<DatabaseConnection> {
  return typeof location === 'string' ? connectSqlite(location) : connectPostgres(location.reveal())
}

async function connectSqlite(file: string): Promise<DatabaseConnection> {
  const database = openSqlite(file, silentLog)
  const { sqlite } = database
  const writer = new Writer(database)
  const managed = createManagedStores(createScriptRunner(database, writer), testActor)
  return {
    ...managed,
    rows: async <Row>(sql: string, ...parameters: readonly Value[]) =>
      sqlite.query<Row, Value[]>(sql).all(...parameters),
    values: async (sql, ...parameters) =>
      sqlite.query<Value[], Value[]>(sql).values(...parameters) as Value[][],
    report: (query) => reportOf(query, createUsageSource(database), managed),
    rollUp: createRollup(database, writer),
    async lock() {
      const other = new Sqlite(file)
      other.run('BEGIN IMMEDIATE')
      const release = async () => other.close()
      return { release, [Symbol.asyncDispose]: release }
    },
    [Symbol.asyncDispose]: async () => database.close(),
  }
}

async function connectPostgres(url: string): Promise<DatabaseConnection> {
  const database = await openTestDatabase(url)
  const rows = async (sql: string, ...parameters: readonly Value[]) => {
    let count = 0
    const text = sql.replace(/\?/g, () => `$${++count}`)
    return (await database.query<StoredRow>(text, parameters)).map(withoutBooleans)
  }
  const managed = createManagedStores(createPostgresRunner(database), testActor)
  return {
    ...managed,
    rows: async <Row>(sql: string, ...parameters: readonly Value[]) =>
      (await rows(sql, ...parameters)) as readonly object[] as Row[],
    values: async (sql, ...parameters) => (await rows(sql, ...parameters)).map((row) => Object.values(row)),
    report: (query) => reportOf(query, createPostgresSource(database), managed),
    rollUp: createPostgresRollup(database),
    lock: () => lockPostgres(database),
    [Symbol.asyncDispose]: () => database.close(),
  }
}

function reportOf(query: UsageQuery, source: UsageSource, managed: ManagedStores) {
  return operatorReport(query, { ...managed, usage: createUsageReports(source, operatorReports) })
}

type StoredRow = Readonly<Record<string, Value | boolean>>

/** As SQLite returns it. */
function withoutBooleans(row: StoredRow): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]),
  )
}

const lockedTables =
  'organizations, api_keys, usage, ledger, reservations, responses, completions, transactions'

/** Others can read, and wait before they write. */
async function lockPostgres({ transact }: PostgresDatabase): Promise<DatabaseLock> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ended = transact(async (query) => {
    await query('SET LOCAL idle_in_transaction_session_timeout = 0')
    await query(`LOCK TABLE ${lockedTables} IN EXCLUSIVE MODE`)
    locked.resolve()
    await released.promise
  })
  await Promise.race([locked.promise, ended])
  const release = () => {
    released.resolve()
    return ended
  }
  return { release, [Symbol.asyncDispose]: release }
}

import { describe } from 'bun:test'
import { join } from 'node:path'
import type { Command } from '../../../src/cli/command.ts'
import { command as orgs } from '../../../src/cli/commands/orgs.ts'
import { databaseName } from '../../../src/storage/database-location.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { type CommandResult, storageFixture } from './storage-fixture.ts'

/** What commands print about organizations, projects and keys, in part. */
export type Printed = {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly expires_at: string | null
  readonly budget: Readonly<Record<string, string | null>> | null
}

/** Commands on a database with the organizations default and acme. */
export type DatabaseFixture = {
  say(command: Command, ...args: string[]): Promise<CommandResult>
  /** Runs a command with `--json`, which must succeed, and returns its output. */
  json(command: Command, ...args: string[]): Promise<Printed>
  /** The same for `list`, with these flags. */
  list(command: Command, ...flags: string[]): Promise<readonly Printed[]>
  /** Changes the database with SQL that every database understands. */
  change(text: string): Promise<void>
}

/** Defines the same tests for both databases. */
export function testDatabases(define: (open: () => Promise<DatabaseFixture>) => void): void {
  describe('with SQLite', () => define(openSqlite))
  describe.skipIf(!hasPostgres)('with PostgreSQL', () => define(openPostgres))
}

async function openSqlite(): Promise<DatabaseFixture> {
  const fixture = storageFixture()
  return withOrganizations({
    say: fixture.say,
    async change(text) {
      const database = openDatabase(join(fixture.data, databaseName))
      database.sqlite.run(text)
      database.close()
    },
  })
}

async function openPostgres(): Promise<DatabaseFixture> {
  const url = await (await sharedPostgres()).createDatabase()
  return withOrganizations({
    say: storageFixture({ WEIR_DATABASE: url }).say,
    change: async (text) => void (await execute(url, text)),
  })
}

type Commands = Pick<DatabaseFixture, 'say' | 'change'>

async function withOrganizations(fixture: Commands): Promise<DatabaseFixture> {
  for (const name of ['default', 'acme']) await fixture.say(orgs, 'create', name)
  const json = async (command: Command, ...args: string[]) => {
    const { code, out, err } = await fixture.say(command, ...args, '--json')
    if (code !== 0) throw new Error(err)
    return JSON.parse(out)
  }
  return { ...fixture, json, list: (command, ...flags) => json(command, 'list', ...flags) }
}

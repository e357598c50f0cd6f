import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command as backup } from '../../src/cli/commands/backup.ts'
import { command as check } from '../../src/cli/commands/check.ts'
import { command as copy } from '../../src/cli/commands/copy.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as usage } from '../../src/cli/commands/usage.ts'
import { migrationLock, migrations } from '../../src/storage/postgres/connection/migrate.ts'
import { waitUntil } from '../support/billing-database.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres, startPostgres } from '../support/postgres/server.ts'
import { storageFixture } from './support/storage-fixture.ts'

const password = 'canary-password-0123456789'

async function startCommands() {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  // The server trusts everyone, and ignores the password.
  const secretUrl = url.replace('weir@', `weir:${password}@`)
  const label = `127.0.0.1:${server.port}${new URL(url).pathname}`
  return { url, label, ...storageFixture({ WEIR_DATABASE: secretUrl }), secretUrl }
}

/** The same as a user of its own, which has no right of an administrator. */
async function startAsUser() {
  const { url, label } = await startCommands()
  const user = `app_${new URL(url).pathname.slice(1)}`
  await execute(url, `CREATE ROLE ${user} LOGIN`)
  return { url, label, user, ...storageFixture({ WEIR_DATABASE: url.replace('weir@', `${user}@`) }) }
}

/** Commands through a proxy that can break their connections, and what they print if the migration is interrupted. */
async function startThroughProxy() {
  const commands = await startCommands()
  const proxy = await startProxy((await sharedPostgres()).port)
  onTestFinished(() => proxy[Symbol.dispose]())
  const url = proxy.through(commands.url)
  const { host, pathname } = new URL(url)
  const err =
    `The connection to the database ${host}${pathname} was lost while it was migrated. Try again: an incomplete ` +
    'migration has changed nothing.'
  return {
    ...commands,
    proxy,
    through: storageFixture({ WEIR_DATABASE: url }).say,
    lost: { code: 1, out: '', err },
  }
}

describe.skipIf(!hasPostgres)('with a PostgreSQL database', () => {
  test('organizations and keys are managed as with SQLite', async () => {
    const { say, label } = await startCommands()
    expect((await say(orgs, 'list')).out).toBe(`There are no organizations in ${label}.`)
    expect((await say(orgs, 'create', 'acme')).code).toBe(0)
    expect((await say(orgs, 'credit', 'acme', '12.50', '--note', 'invoice 7')).code).toBe(0)
    expect((await say(orgs, 'set', 'acme', '--billing', 'prepaid', '--requests-per-minute', '60')).code).toBe(
      0,
    )
    const [account] = JSON.parse((await say(orgs, 'list', '--json')).out)
    expect(account).toMatchObject({ name: 'acme', billing: 'prepaid' })
    const created = JSON.parse((await say(keys, 'create', '--org', 'acme', '--json')).out)
    const rotated = await say(keys, 'rotate', created.id, '--grace', '1h', '--json')
    expect(rotated.code).toBe(0)
    expect(JSON.parse((await say(keys, 'list', '--json')).out)).toHaveLength(2)
    expect((await say(keys, 'revoke', created.id)).code).toBe(0)
    expect((await say(usage, '--json')).code).toBe(0)
    expect((await say(orgs, 'rename', 'acme', 'globex')).out).toBe('Renamed the organization acme to globex.')
    expect((await say(orgs, 'delete', 'globex', '--yes')).code).toBe(0)
    expect(JSON.parse((await say(orgs, 'list', '--json')).out)).toEqual([])
  })

  test('the settings file may name the database, and other mistakes in it do not matter', async () => {
    const { data, secretUrl, url } = await startCommands()
    const { say, ...fixture } = storageFixture({ URL_OF_DATABASE: secretUrl })
    const file = join(fixture.data, '..', 'weir.yaml')
    writeFileSync(file, 'database: ${URL_OF_DATABASE}\nport: none\n')
    expect(await say(orgs, 'create', 'acme', '--config', file)).toMatchObject({ code: 0 })
    expect(await execute(url, 'SELECT name FROM organizations')).toEqual([{ name: 'acme' }])
    expect(await Bun.file(join(data, 'weir.db')).exists()).toBe(false)
  })

  test('weir backup says to use pg_dump', async () => {
    const { say } = await startCommands()
    const { code, err } = await say(backup, 'copy.db')
    expect([code, err]).toEqual([1, expect.stringContaining('pg_dump')])
  })

  test('weir check names the host and the database, and shows no password', async () => {
    const { say, label, secretUrl } = await startCommands()
    const good = await say(check)
    expect(good.out).toContain(label)
    const refused = secretUrl.replace(/:\d+\//, ':1/')
    const broken = storageFixture({ WEIR_DATABASE: refused })
    const bad = await broken.say(check)
    expect(bad.code).toBe(1)
    expect(bad.out + bad.err).toContain('127.0.0.1:1/')
    const invalid = await storageFixture({ WEIR_DATABASE: `mysql://u:${password}@host/name` }).say(check)
    expect(invalid.code).toBe(1)
    for (const { out, err } of [good, bad, invalid]) expect(out + err).not.toContain(password)
  })

  test('a program that is older than the database does not use it', async () => {
    const { say, url } = await startCommands()
    await say(orgs, 'create', 'acme')
    await execute(url, 'UPDATE schema_version SET version = 99')
    const { code, err } = await say(orgs, 'list')
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('was written by a newer version of weir (schema 99'),
    ])
  })

  test('a database with tables of another program is not changed', async () => {
    const { say, url } = await startCommands()
    await execute(url, 'CREATE TABLE theirs (id integer)')
    const { code, err } = await say(orgs, 'create', 'acme')
    expect([code, err]).toEqual([1, expect.stringContaining('has tables of another program')])
    expect(await execute(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toHaveLength(1)
  })

  test('a user that may not create tables is named, with the statement that lets it', async () => {
    const { label, user, url, say } = await startAsUser()
    await execute(url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const grant = `GRANT USAGE, CREATE ON SCHEMA public TO ${user};`
    const problem =
      `The database ${label} cannot be used: its user ${user} may not create tables in the schema public. ` +
      `As an administrator of that database, run: ${grant}`
    expect(await say(orgs, 'list')).toEqual({ code: 1, out: '', err: problem })
    const file = storageFixture()
    await file.say(orgs, 'create', 'acme')
    const copied = await file.say(copy, '--to', url.replace('weir@', `${user}@`))
    expect([copied.code, copied.err]).toEqual([1, expect.stringContaining(problem)])
    const checked = await say(check)
    expect([checked.code, checked.out]).toEqual([1, expect.stringContaining(`database: ${problem}`)])
    await execute(url, grant)
    expect((await say(check)).out).toContain('No problems.')
    expect(await say(orgs, 'list')).toMatchObject({ code: 0 })
  })

  test('a user that may use no schema is told so', async () => {
    const { label, user, url, say } = await startAsUser()
    await execute(url, 'REVOKE ALL ON SCHEMA public FROM PUBLIC')
    const problem =
      `The database ${label} cannot be used: its user ${user} may use no schema of its search path ("$user", public). ` +
      `As an administrator of that database, run: GRANT USAGE, CREATE ON SCHEMA NAME TO ${user};`
    expect(await say(orgs, 'list')).toEqual({ code: 1, out: '', err: problem })
    expect((await say(check)).out).toContain(problem)
  })

  test('a user that does not own the tables of a database is told so', async () => {
    const { label, user, url, say } = await startAsUser()
    await storageFixture({ WEIR_DATABASE: url }).say(orgs, 'create', 'acme')
    const problem =
      `The database ${label} cannot be used: it denies its user a permission: permission denied for table ` +
      `schema_version. As an administrator of that database, make its user ${user} the owner of its tables ` +
      `(ALTER TABLE … OWNER TO), and run: GRANT USAGE, CREATE ON SCHEMA public TO ${user};`
    expect(await say(orgs, 'list')).toEqual({ code: 1, out: '', err: problem })
    expect((await say(check)).out).toContain(problem)
  })

  test('weir check reports a database that is read-only, also before it has tables', async () => {
    const { say, label, url } = await startCommands()
    const alter = async (change: string) =>
      void (await execute(
        (await sharedPostgres()).url('postgres'),
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} ${change}`,
      ))
    const problem =
      `database: The database ${label} cannot be used: it is read-only. Turn off default_transaction_read_only ` +
      'for the server, the database or its user.'
    for (const command of [check, orgs]) {
      if (command === orgs) expect((await say(orgs, 'create', 'acme')).code).toBe(0)
      await alter('SET default_transaction_read_only = on')
      const { code, out } = await say(check)
      expect([code, out]).toEqual([1, expect.stringContaining(problem)])
      await alter('RESET default_transaction_read_only')
      expect((await say(check)).out).toContain('No problems.')
    }
  })

  test('weir check reports a standby', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.dispose())
    const url = await server.createDatabase()
    const { say } = storageFixture({ WEIR_DATABASE: url })
    expect((await say(orgs, 'create', 'acme')).code).toBe(0)
    const [folder] = await execute<{ data_directory: string }>(url, 'SHOW data_directory')
    await server.stop('SIGINT')
    writeFileSync(join(folder!.data_directory, 'standby.signal'), '')
    await server.start()
    const { code, out } = await say(check)
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(
        'cannot be used: it is a standby, which is read-only. Use the URL of the primary server.',
      ),
    ])
  })

  test('a connection that is lost during a migration is named, and the next start migrates', async () => {
    const { url, say, through, lost, proxy } = await startThroughProxy()
    const other = new Client({ connectionString: url })
    onTestFinished(() => other.end())
    await other.connect()
    await other.query({ text: `SELECT pg_advisory_lock(${migrationLock})` })
    const listing = through(orgs, 'list')
    const waits =
      "SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND locktype = 'advisory' " +
      'AND datname = current_database()'
    await waitUntil(async () => (await execute(url, waits)).length > 0, 'a migration that waits')
    proxy.cut()
    expect(await listing).toEqual(lost)
    await other.query({ text: `SELECT pg_advisory_unlock(${migrationLock})` })
    expect((await say(orgs, 'create', 'acme')).code).toBe(0)
  })

  test('a connection that is lost at the end of a migration is named, and the next start goes on', async () => {
    const { url, say, through, lost, proxy } = await startThroughProxy()
    proxy.cutAfterCommit(1)
    expect(await through(orgs, 'list')).toEqual(lost)
    expect(proxy.cutCommits()).toBe(1)
    const version = () => execute(url, 'SELECT version FROM schema_version').catch(() => [])
    await waitUntil(async () => (await version()).length > 0, 'the end of the migration')
    expect(await version()).toEqual([{ version: migrations.length }])
    expect((await say(orgs, 'create', 'acme')).code).toBe(0)
  })

  test('a command that cannot write says why', async () => {
    const { say, label, url } = await startCommands()
    await say(orgs, 'create', 'acme')
    const name = new URL(url).pathname.slice(1)
    await execute(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    const err = `The database ${label} is read-only.`
    expect(await say(orgs, 'create', 'globex')).toEqual({ code: 1, out: '', err })
  })

  test('processes that migrate a new database at the same moment wait for each other', async () => {
    const { say, url } = await startCommands()
    const names = Array.from({ length: 6 }, (_, index) => `org${index}`)
    const created = await Promise.all(names.map((name) => say(orgs, 'create', name)))
    expect(created.map(({ code }) => code)).toEqual(names.map(() => 0))
    expect(await execute(url, 'SELECT version FROM schema_version')).toEqual([{ version: migrations.length }])
  })
})

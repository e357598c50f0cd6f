import { describe, expect, test } from 'bun:test'
import { createReadiness } from '../../../src/storage/postgres/health.ts'
import { createMigratedDatabase } from '../../support/postgres/migrated-database.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'

async function open() {
  const url = await createMigratedDatabase()
  const proxy = await startProxy((await sharedPostgres()).port)
  const { close, health } = await openTestDatabase(proxy.through(url))
  const dispose = async () => {
    await close()
    proxy[Symbol.dispose]()
  }
  return { url, proxy, health, readiness: createReadiness(health), [Symbol.asyncDispose]: dispose }
}

/** Lets no table be created, with this error; small writes succeed, as those for which a page has room on a full disk. */
async function failTables(url: string, code: string): Promise<void> {
  await execute(
    url,
    `CREATE FUNCTION fail() RETURNS event_trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${code}'; END $$`,
  )
  await execute(url, 'CREATE EVENT TRIGGER fail ON ddl_command_start EXECUTE FUNCTION fail()')
}

/** Fails as a write does for which there is no space. */
async function write(url: string): Promise<unknown> {
  const full = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
  return await execute(url, full).catch((error: unknown) => error)
}

describe.skipIf(!hasPostgres)('the readiness of a PostgreSQL database', () => {
  test('is probed again after a failure, although a probe succeeded a moment ago', async () => {
    await using opened = await open()
    const { proxy, health, readiness } = opened
    const succeeded = readiness.probe()
    await succeeded
    proxy[Symbol.dispose]()
    await expect(health.probe()).rejects.toMatchObject({ status: 503 })
    const failed = readiness.probe()
    expect(failed).not.toBe(succeeded)
    await expect(failed).rejects.toMatchObject({ status: 503 })
  })

  test('fails on a full disk, although small writes succeed, until there is space for larger ones', async () => {
    await using opened = await open()
    const { url, health, readiness } = opened
    await failTables(url, '53100')
    health.failed(await write(url))
    const full = { status: 503, message: 'The database is out of disk space.' }
    await expect(readiness.probe()).rejects.toMatchObject(full)
    health.worked()
    expect(() => readiness.ready()).toThrow('is unavailable')
    await expect(health.probe()).rejects.toMatchObject({ status: 503 })
    await execute(url, 'DROP EVENT TRIGGER fail')
    await health.probe()
    expect(readiness.ready()).toBeUndefined()
    const left = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'space_probe%'"
    expect(await execute(url, left)).toEqual([])
  })

  test('recovers from a full disk also where the server lets it create no table', async () => {
    await using opened = await open()
    const { url, health, readiness } = opened
    await failTables(url, '42501')
    health.failed(await write(url))
    await readiness.probe()
    expect(readiness.ready()).toBeUndefined()
  })

  test('names a right that the user has lost, which requests are not told', async () => {
    const url = await createMigratedDatabase()
    const user = `reader_${new URL(url).pathname.slice(1)}`
    await execute(url, `CREATE ROLE ${user} LOGIN`)
    await execute(url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}`)
    const { close, health, transact } = await openTestDatabase(url.replace('weir@', `${user}@`))
    const unavailable = 'The database of the gateway is unavailable. Try again later.'
    const work = transact(async (query) => await query('SELECT 1'))
    await expect(work).rejects.toMatchObject({ status: 503, message: unavailable })
    await expect(createReadiness(health).probe()).rejects.toMatchObject({
      status: 503,
      message: 'The database denies its user a permission.',
    })
    await close()
  })
})

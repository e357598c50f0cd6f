import { describe, expect, onTestFinished, test } from 'bun:test'
import { Client } from 'pg'
import { migrationLock } from '../../../src/storage/postgres/connection/migrate.ts'
import { firstKey } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { weirCommand } from '../../support/weir-command.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { canRunWorkers } from './support/weir-workers.ts'

/** An empty database that another process is migrating, and a gateway that waits for it. */
async function startWaiting(workers: string) {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const other = new Client({ connectionString: url })
  await other.connect()
  await other.query({ text: 'BEGIN' })
  await other.query({ text: `SELECT pg_advisory_xact_lock(${migrationLock})` })
  const folder = temporaryFolder()
  const child = Bun.spawn([...weirCommand, 'serve', '--port', '0', '--workers', workers], {
    cwd: folder,
    env: { HOME: folder, WEIR_DATABASE: url, WEIR_BOOTSTRAP_KEY: firstKey },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await child.exited
    await other.end()
    await server.dropDatabase(url)
  })
  const waits = () =>
    execute(
      url,
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'",
    )
  await waitUntil(async () => (await waits()).length > 0, 'a gateway that waits for the migration')
  return { url, child, migrated: () => other.query({ text: 'ROLLBACK' }) }
}

async function readUntil(stream: ReadableStream<Uint8Array>, text: string): Promise<string> {
  let read = ''
  for await (const bytes of stream) {
    read += new TextDecoder().decode(bytes)
    if (read.includes(text)) break
  }
  return read
}

const numbers = ['1', ...(canRunWorkers ? ['2'] : [])]

describe.skipIf(!hasPostgres)('a start that waits until another process has migrated the database', () => {
  test.each(numbers)(
    'continues after SIGHUP, and reloads the settings at its end, with %s workers',
    async (workers) => {
      const { child, migrated } = await startWaiting(workers)
      child.kill('SIGHUP')
      await migrated()
      const log = readUntil(child.stderr, 'The settings were reloaded')
      expect(await readUntil(child.stdout, 'listens on')).toContain('listens on')
      expect(await log).toContain('The settings were reloaded')
    },
    60_000,
  )

  test.each(numbers)(
    'ends at the first stop signal and changes nothing, with %s workers',
    async (workers) => {
      const { url, child } = await startWaiting(workers)
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
      expect(await child.stderr.text()).toContain('The gateway was stopped before it had started.')
      expect(await child.stdout.text()).toBe('')
      const tables = 'SELECT FROM pg_tables WHERE schemaname = current_schema()'
      expect(await execute(url, tables)).toEqual([])
    },
    60_000,
  )
})

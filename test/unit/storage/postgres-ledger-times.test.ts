import { describe, expect, onTestFinished, test } from 'bun:test'
import { silentLog } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { openConnections } from '../../../src/storage/postgres/connection/connections.ts'
import { migrate, migrations } from '../../../src/storage/postgres/connection/migrate.ts'
import { execute, hasPostgres } from '../../support/postgres/server.ts'
import { emptyPostgres } from './support/copies.ts'

/** The number of migrations of the version that could copy such entries. */
const earlier = 21

const createdAt = Date.parse('2026-11-20T10:00:00Z')
const [digits, other] = ['0123456789abcdef0123', '123456789abcdef01234']

/** A database of an earlier version, to which `weir copy` has copied entries from before ids had a time. */
async function copiedDatabase() {
  const url = await emptyPostgres()
  const connections = openConnections(new Secret(url), 1)
  onTestFinished(() => connections.close())
  await migrate(connections, 'weir', migrations.slice(0, earlier), silentLog)
  await execute(url, "INSERT INTO organizations (id, name, created_at) VALUES ('o', 'acme', 1)")
  const insert = 'INSERT INTO ledger (id, organization_id, created_at, kind, amount) VALUES '
  await execute(
    url,
    `${insert} ('led_000000000000${digits}', 'o', ${createdAt}, 'credit', 5),
      ('led_000000000000${other}', 'o', -1, 'credit', 6),
      ('led_011f71fb04cb${digits}', 'o', 7, 'charge', -7)`,
  )
  return { url, migrate: () => migrate(connections, 'weir', migrations, silentLog) }
}

describe.skipIf(!hasPostgres)('the migration of a PostgreSQL database', () => {
  test('gives the entries of the ledger that were copied without a time the time of their row', async () => {
    const { url, migrate } = await copiedDatabase()
    await migrate()
    const time = createdAt.toString(16).padStart(12, '0')
    expect(await execute(url, 'SELECT id, amount FROM ledger ORDER BY amount')).toEqual([
      { id: `led_011f71fb04cb${digits}`, amount: '-7' },
      { id: `led_${time}${digits}`, amount: '5' },
      { id: `led_000000000000${other}`, amount: '6' },
    ])
  })
})

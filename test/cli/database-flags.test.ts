import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command as backup } from '../../src/cli/commands/backup.ts'
import { command as copy } from '../../src/cli/commands/copy.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as models } from '../../src/cli/commands/models.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { execute, hasPostgres, sharedPostgres } from '../support/postgres/server.ts'
import { storageFixture } from './support/storage-fixture.ts'

/** No database listens there: a command that connects fails in another way. */
const url = 'postgres://weir:canary-password@127.0.0.1:9/weir'

/** A folder with a SQLite file, and a settings file that names PostgreSQL, which commands find. */
async function folderWithSettings() {
  const { data, say } = storageFixture()
  await say(orgs, 'create', 'acme')
  const settings = join(data, '..', 'weir.yaml')
  return { data, say, settings, nameDatabase: () => writeFileSync(settings, `database: ${url}\n`) }
}

const refused = (setting: string, remedy: string) => ({
  code: 2,
  out: '',
  err: `--data names the folder of a SQLite file, but ${setting} names a PostgreSQL database. To use PostgreSQL, leave out --data; to use the file in the folder, ${remedy}.`,
})

test.each([
  { command: orgs, args: ['list'] },
  { command: orgs, args: ['delete', 'acme', '--yes'] },
  { command: keys, args: ['list'] },
  { command: backup, args: ['copy.db'] },
  { command: copy, args: ['--to', 'copy'] },
])(
  'a command that opens the database refuses a folder beside PostgreSQL: $args',
  async ({ command, args }) => {
    const { data, say, settings, nameDatabase } = await folderWithSettings()
    const byVariable = storageFixture({ WEIR_DATABASE: url })
    expect(await byVariable.say(command, ...args, '--data', data)).toEqual(
      refused('WEIR_DATABASE', 'unset WEIR_DATABASE'),
    )
    nameDatabase()
    expect(await say(command, ...args, '--data', data)).toEqual(
      refused('the settings file', 'name a settings file without “database” with --config'),
    )
    writeFileSync(settings, 'port: 9347\n')
    expect((await say(orgs, 'list', '--data', data)).out).toContain('acme')
    expect(readdirSync(join(data, '..')).toSorted()).toEqual(['data', 'weir.yaml'])
  },
)

test('an empty WEIR_DATABASE names no database, and WEIR_DATA beside a PostgreSQL database is no mistake', async () => {
  const { data, say } = await folderWithSettings()
  const empty = storageFixture({ WEIR_DATABASE: '' })
  expect((await empty.say(orgs, 'list', '--data', data)).out).toContain('acme')
  const both = await storageFixture({ WEIR_DATABASE: url }).say(orgs, 'list')
  expect([both.code, both.err]).toEqual([1, expect.stringContaining('127.0.0.1:9/weir')])
  expect((await say(orgs, 'list')).out).toContain('acme')
})

describe.skipIf(!hasPostgres)('with a PostgreSQL database', () => {
  test('the catalog of the folder of --data is updated, and the audit log has the change', async () => {
    const database = await (await sharedPostgres()).createDatabase()
    const { data, say } = storageFixture({ WEIR_DATABASE: database })
    await say(orgs, 'create', 'acme')
    const [file, folder] = [join(data, '..', 'list.json'), join(data, '..', 'other')]
    mkdirSync(folder)
    writeFileSync(file, JSON.stringify({ models: [{ slug: 'openai/gpt-5-mini', pricing: { input: 0.3 } }] }))
    const updated = await say(models, 'update', '--from', file, '--data', folder)
    expect(updated).toMatchObject({ code: 0, err: '' })
    expect([existsSync(join(folder, 'catalog.json')), existsSync(data)]).toEqual([true, false])
    const events = await execute(database, "SELECT event FROM audit_entries WHERE event LIKE 'catalog%'")
    expect(events).toEqual([{ event: 'catalog.updated' }])
  })
})

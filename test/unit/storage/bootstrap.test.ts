import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseApiKey } from '../../../src/domain/accounting/api-key.ts'
import { bootstrap } from '../../../src/storage/sqlite/keys/bootstrap.ts'
import { createKeys } from '../../../src/storage/sqlite/keys/keys.ts'
import { createOrganizations } from '../../../src/storage/sqlite/organizations/organizations.ts'
import { startScript, temporaryFolder, testDatabase, testStorage } from './support/folder.ts'

const chosen = `sk-weir-abcDEF012345-${'s'.repeat(32)}`

test('an empty database gets an unmetered organization and one key, shown once', async () => {
  const { database, writer } = testStorage()
  const first = await bootstrap(database, writer)
  expect(parseApiKey(first?.key.reveal() ?? '')?.publicId).toBe(first?.record.id)
  expect(first?.record.organization).toBe('default')
  expect(await bootstrap(database, writer)).toBeUndefined()
  const [organization, ...others] = await createOrganizations(database, writer).list()
  expect(others).toEqual([])
  expect(organization).toMatchObject({ name: 'default', billing: 'unmetered', balance: 0n })
  expect(await createKeys(database, writer).list()).toHaveLength(1)
})

test('a bootstrap key of the operator becomes the first key', async () => {
  const { database, writer } = testStorage()
  const first = await bootstrap(database, writer, chosen)
  expect(first?.key.reveal()).toBe(chosen)
  expect(first?.record.id).toBe('abcDEF012345')
})

test('a database with an organization or a key is not bootstrapped', async () => {
  const { database, writer } = testStorage()
  const organizations = createOrganizations(database, writer)
  await organizations.create('acme')
  expect(await bootstrap(database, writer, chosen)).toBeUndefined()
  await createKeys(database, writer).create({ organization: 'acme', name: 'k', expiresAt: null })
  await organizations.delete('acme')
  expect(await bootstrap(database, writer)).toBeUndefined()
  expect(await organizations.list()).toEqual([])
})

test('a malformed bootstrap key is an error that does not repeat it', async () => {
  const { database, writer } = testStorage()
  const wrong = [
    'hunter2',
    'sk-weir-short-' + 's'.repeat(32),
    chosen.slice(0, -1),
    `${chosen}!`,
    ` ${chosen}`,
  ]
  for (const input of wrong) {
    const error = await bootstrap(database, writer, input).catch((error: Error) => error)
    expect(String(error)).toContain('WEIR_BOOTSTRAP_KEY is not a valid API key')
    expect(String(error)).not.toContain(input)
  }
  expect(await createKeys(database, writer).list()).toEqual([])
})

test('processes that start at the same moment create one key together', async () => {
  const file = join(temporaryFolder(), 'weir.db')
  const starters = [0, 1, 2].map(() => startScript('unit/storage/support/bootstrap-once.ts', file))
  const printed = await Promise.all(starters.map(({ stdout }) => new Response(stdout).text()))
  expect(await Promise.all(starters.map(({ exited }) => exited))).toEqual([0, 0, 0])
  expect(printed.filter((text) => text !== '')).toHaveLength(1)
  const { sqlite } = testDatabase(file)
  expect(sqlite.prepare('SELECT count(*) FROM api_keys').values()).toEqual([[1]])
  expect(sqlite.prepare('SELECT count(*) FROM organizations').values()).toEqual([[1]])
})

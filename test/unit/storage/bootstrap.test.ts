import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseApiKey } from '../../../src/domain/accounting/api-key.ts'
import { startScript, temporaryFolder, testDatabase } from './support/folder.ts'
import { testStores } from './support/stores.ts'

const chosen = `sk-weir-abcDEF012345-${'s'.repeat(32)}`

testStores((open) => {
  test('an empty database gets an unmetered organization and one key, shown once', async () => {
    const store = await open()
    const first = await store.bootstrap()
    expect(parseApiKey(first.apiKey!.key.reveal())?.publicId).toBe(first.apiKey!.record.id)
    expect(first.apiKey!.record.organization).toBe('default')
    expect((await store.bootstrap()).apiKey).toBeUndefined()
    const [organization, ...others] = await store.organizations.list()
    expect(others).toEqual([])
    expect(organization).toMatchObject({ name: 'default', billing: 'unmetered', balance: 0n })
    expect(await store.keys().list()).toHaveLength(1)
  })

  test('a bootstrap key of the operator becomes the first key', async () => {
    const store = await open()
    const first = await store.bootstrap({ configured: chosen })
    expect(first.apiKey?.key.reveal()).toBe(chosen)
    expect(first.apiKey?.record.id).toBe('abcDEF012345')
  })

  test.each(['acme', 'default'])(
    'a database in which only the organization %s was created gets its first keys, once',
    async (name) => {
      const store = await open()
      const { id } = await store.organizations.create(name, { billing: 'prepaid' })
      const first = await store.bootstrap({ configured: chosen, admin: true })
      expect(first).toMatchObject({ apiKey: { record: { id: 'abcDEF012345', organization: 'default' } } })
      expect(first.adminKey).toBeDefined()
      expect(await store.bootstrap({ configured: chosen, admin: true })).toEqual({ hasAdminKey: true })
      const organizations = await store.organizations.list()
      expect(organizations.map((organization) => organization.name)).toEqual(
        name === 'default' ? ['default'] : ['acme', 'default'],
      )
      expect(organizations[0]).toMatchObject({ id, billing: 'prepaid' })
      expect(await store.keys().list()).toHaveLength(1)
    },
  )

  test('a database that has an admin key gets an API key, and no other admin key', async () => {
    const store = await open()
    await store.adminKeys().create({ name: 'op', expiresAt: null, permissions: ['read'] })
    const first = await store.bootstrap({ admin: true })
    expect(first.apiKey).toBeDefined()
    expect(first).toMatchObject({ hasAdminKey: true })
    expect(first.adminKey).toBeUndefined()
    expect(await store.adminKeys().list()).toMatchObject([{ name: 'op' }])
  })

  test.each(['acme', 'default'])(
    'starts at the same moment create one key if there is only %s',
    async (name) => {
      const store = await open()
      await store.organizations.create(name)
      const starts = await Promise.all(Array.from({ length: 4 }, () => store.bootstrap()))
      expect(starts.filter(({ apiKey }) => apiKey !== undefined)).toHaveLength(1)
      expect(await store.keys().list()).toHaveLength(1)
    },
  )

  test('a database with a key is not bootstrapped, also without its organization', async () => {
    const store = await open()
    const organizations = store.organizations
    await organizations.create('acme')
    await store.keys().create({ organization: 'acme', name: 'k', expiresAt: null })
    expect((await store.bootstrap({ configured: chosen })).apiKey).toBeUndefined()
    await organizations.delete('acme')
    expect((await store.bootstrap()).apiKey).toBeUndefined()
    expect(await organizations.list()).toEqual([])
  })

  test('a malformed bootstrap key is an error that does not repeat it', async () => {
    const store = await open()
    const wrong = [
      'hunter2',
      'sk-weir-short-' + 's'.repeat(32),
      chosen.slice(0, -1),
      `${chosen}!`,
      ` ${chosen}`,
    ]
    for (const input of wrong) {
      const error = await store.bootstrap({ configured: input }).catch((error: Error) => error)
      expect(String(error)).toContain('WEIR_BOOTSTRAP_KEY is not a valid API key')
      expect(String(error)).not.toContain(input)
    }
    expect(await store.keys().list()).toEqual([])
  })
})

test('processes that start at the same moment create one key together', async () => {
  const file = join(temporaryFolder(), 'weir.db')
  const starters = [0, 1, 2].map(() => startScript('unit/storage/support/bootstrap-once.ts', file))
  const textsOf = (outputs: readonly ReadableStream[]) =>
    Promise.all(outputs.map((output) => new Response(output).text()))
  const [printed, errors] = await Promise.all([
    textsOf(starters.map(({ stdout }) => stdout)),
    textsOf(starters.map(({ stderr }) => stderr)),
  ])
  expect(errors).toEqual(['', '', ''])
  expect(await Promise.all(starters.map(({ exited }) => exited))).toEqual([0, 0, 0])
  expect(printed.filter((text) => text !== '')).toHaveLength(1)
  const { sqlite } = testDatabase(file)
  expect(sqlite.prepare('SELECT count(*) FROM api_keys').values()).toEqual([[1]])
  expect(sqlite.prepare('SELECT count(*) FROM organizations').values()).toEqual([[1]])
})

import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseApiKey, hashSecret, verifySecret } from '../../../src/domain/accounting/api-key.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { testStorage } from './support/folder.ts'
import { type OpenStore, testStores } from './support/stores.ts'
import { testActor, testChange } from '../../support/actor.ts'

const wish = { organization: 'acme', name: 'laptop', expiresAt: null }

async function sqliteStorage() {
  const { database, writer } = testStorage()
  await createOrganizations(createScriptRunner(database, writer), testChange).create('acme')
  return { database, keys: createManagedStores(createScriptRunner(database, writer), testActor).keys }
}

async function startStorage(open: OpenStore) {
  const store = await open()
  const clock = { now: 1000 }
  const { organizations } = store
  await organizations.create('acme')
  return { organizations, clock, keys: store.keys(() => clock.now) }
}

/** The sentence with which it is refused; nothing where it is not. */
async function refusal(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => '',
    (error: unknown) => String(error),
  )
}

test('a text is a key only in its complete format', () => {
  const [id, secret] = ['abcDEF012345', 's'.repeat(32)]
  expect(parseApiKey(`sk-weir-${id}-${secret}`)).toEqual({ publicId: id, secret })
  expect(parseApiKey(`sk-weir-${id}-${'s'.repeat(256)}`)).toBeDefined()
  const wrong = ['', 'sk-', `sk-weir-${id}-`, `sk-weir-${id}x-${secret}`, `sk-weir-${id}-${secret}\n`]
  wrong.push(`SK-WEIR-${id}-${secret}`, `sk-weir-${id}-${secret}-`, `sk-weir-${id}-${'s'.repeat(257)}`)
  wrong.push(`sk-weir-${id}-${'s'.repeat(31)}`, `xsk-weir-${id}-${secret}`, `sk-weir-äbcDEF012345-${secret}`)
  for (const text of wrong) expect([text, parseApiKey(text)]).toEqual([text, undefined])
})

test('only the complete secret verifies a key', () => {
  const hash = hashSecret('secret')
  expect(verifySecret('secret', hash)).toBe(true)
  for (const secret of ['', 'Secret', 'secre', 'secrets']) expect(verifySecret(secret, hash)).toBe(false)
})

test('the secret of a key is nowhere in the data folder, and in no output about it', async () => {
  const { database, keys } = await sqliteStorage()
  const made = await keys.create(wish)
  const { secret = '' } = parseApiKey(made.key.reveal()) ?? {}
  const folder = dirname(database.file)
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file)).includes(secret.slice(0, 12))).toBe(false)
  expect(`${Bun.inspect(made)}${JSON.stringify(made)}${made.key}`).not.toContain(secret)
})

testStores((open) => {
  const storage = () => startStorage(open)

  test('a key can only be created for an organization that exists', async () => {
    const { keys } = await storage()
    await expect(keys.create({ ...wish, organization: 'nobody' })).rejects.toThrow(
      'There is no organization nobody.',
    )
    expect(await keys.list()).toEqual([])
  })

  test('a second revocation keeps the time of the first', async () => {
    const { keys, clock } = await storage()
    const { record } = await keys.create(wish)
    clock.now = 2000
    expect((await keys.revoke(record.id)).revokedAt).toBe(2000)
    clock.now = 3000
    expect((await keys.revoke(record.id)).revokedAt).toBe(2000)
    expect(await refusal(keys.revoke('nosuchid'))).toContain('There is no API key with the ID nosuchid.')
  })

  test('a rotation creates a key with the same name and organization, and gives the old one its grace period', async () => {
    const { keys, clock } = await storage()
    const old = await keys.create(wish)
    clock.now = 5000
    const made = await keys.rotate(old.record.id, 100)
    expect(made.key.reveal()).not.toBe(old.key.reveal())
    expect(made.record).toMatchObject({
      name: 'laptop',
      organization: 'acme',
      createdAt: 5000,
      expiresAt: null,
    })
    const [first, second, ...others] = await keys.list()
    expect(first).toMatchObject({
      id: old.record.id,
      expiresAt: 5100,
      revokedAt: null,
      replacedBy: made.record.id,
    })
    expect(second).toEqual(made.record)
    expect(others).toEqual([])
  })

  test('a rotation keeps the lifetime of a key, and never prolongs the old one', async () => {
    const { keys, clock } = await storage()
    const old = await keys.create({ ...wish, expiresAt: 11_000 })
    clock.now = 10_500
    expect((await keys.rotate(old.record.id, 86_400_000)).record.expiresAt).toBe(20_500)
    expect((await keys.list())[0]?.expiresAt).toBe(11_000)
  })

  test('a key whose lifetime began before its transaction was created at its beginning', async () => {
    const { keys, clock } = await storage()
    const { record } = await keys.create({ ...wish, createdAt: 990, expiresAt: 1990 })
    expect(record).toMatchObject({ createdAt: 990, expiresAt: 1990 })
    clock.now = 1500
    const rotated = await keys.rotate(record.id, 100)
    expect(rotated.record).toMatchObject({ createdAt: 1500, expiresAt: 2500 })
  })

  test('a key that is rotated, revoked, expired or without an owner cannot be rotated', async () => {
    const { keys, clock, organizations } = await storage()
    const rotated = await keys.create(wish)
    const successor = await keys.rotate(rotated.record.id, 100)
    expect(await refusal(keys.rotate(rotated.record.id, 100))).toContain(
      `The new API key is ${successor.record.id}.`,
    )
    await keys.revoke(successor.record.id)
    expect(await refusal(keys.rotate(successor.record.id, 100))).toContain('is revoked')
    const expired = await keys.create({ ...wish, expiresAt: 1500 })
    clock.now = 1500
    expect(await refusal(keys.rotate(expired.record.id, 100))).toContain('has expired')
    const orphan = await keys.create(wish)
    await organizations.delete('acme')
    expect(await refusal(keys.rotate(orphan.record.id, 100))).toContain('was deleted')
    expect(await keys.list()).toHaveLength(4)
  })

  test('names of organizations are unique while they exist, and readable', async () => {
    const { organizations } = await storage()
    const names = ['acme', '', ' a', 'a ', 'a\nb', '-a', 'a'.repeat(65), 'a/b']
    const refused = await Promise.allSettled(names.map((name) => organizations.create(name)))
    const reasons = refused.map((result) => String(result.status === 'rejected' && result.reason))
    expect(reasons[0]).toContain('already exists')
    for (const reason of reasons.slice(1)) expect(reason).toContain('must have 1 to 64 letters')
    const first = await organizations.delete('acme')
    const second = await organizations.create('acme')
    expect(second.id).not.toBe(first.id)
    for (const name of ['a', 'Ünïcode 2', 'team.a_b-c', 'a'.repeat(64)]) await organizations.create(name)
    expect((await organizations.list()).map(({ name }) => name)).toContain('Ünïcode 2')
  })
})

import { expect, test } from 'bun:test'
import { hashSecret, parseAdminKey } from '../../../src/domain/accounting/api-key.ts'
import { testStores } from './support/stores.ts'

const day = 86_400_000

testStores((open) => {
  test('an admin key is stored as a hash, and found by its id', async () => {
    const store = await open()
    const { record, key } = await store.adminKeys(() => 1000).create({ name: 'ada', expiresAt: 5000 })
    const parts = parseAdminKey(key.reveal())!
    expect(key.reveal()).toMatch(/^sk-weir-admin-[0-9A-Za-z]{12}-[0-9A-Za-z]{32}$/)
    expect(record).toEqual({
      id: parts.publicId,
      name: 'ada',
      last4: parts.secret.slice(-4),
      createdAt: 1000,
      expiresAt: 5000,
      revokedAt: null,
      permissions: ['read', 'write'],
    })
    const found = await store.findAdminKey(parts.publicId)
    const identity = { id: parts.publicId, name: 'ada', permissions: ['read', 'write'] }
    expect(found).toMatchObject({ ...identity, expiresAt: 5000, revokedAt: null })
    expect(hashSecret(parts.secret).equals(found!.secretHash)).toBe(true)
    expect(await store.findAdminKey('unknown00000')).toBeUndefined()
    expect(await store.adminKeys().list()).toEqual([record])
  })

  test('an admin key has the permissions that are chosen, and one of an earlier version reads and writes', async () => {
    const store = await open()
    const keys = store.adminKeys(() => 1000)
    const { record } = await keys.create({ name: 'ada', expiresAt: null, permissions: ['read', 'content'] })
    const { id } = record
    expect([record, ...(await keys.list()), await store.findAdminKey(id)]).toEqual(
      Array(3).fill(expect.objectContaining({ permissions: ['read', 'content'] })),
    )
    await store.rows(`update admin_keys set permissions = null where public_id = '${id}'`)
    expect([await store.findAdminKey(id), await keys.revoke(id)]).toEqual(
      Array(2).fill(expect.objectContaining({ permissions: ['read', 'write'] })),
    )
  })

  test('several admin keys are listed in the order of their creation, and each is revoked for itself', async () => {
    const store = await open()
    const input = { name: 'shared', expiresAt: null }
    const first = (await store.adminKeys(() => 1000).create(input)).record
    const second = (await store.adminKeys(() => 2000).create(input)).record
    expect(await store.adminKeys(() => 3000).revoke(first.id)).toEqual({ ...first, revokedAt: 3000 })
    expect(await store.adminKeys(() => 4000).revoke(first.id)).toEqual({ ...first, revokedAt: 3000 })
    expect(await store.adminKeys().list()).toEqual([{ ...first, revokedAt: 3000 }, second])
    expect(await store.findAdminKey(first.id)).toMatchObject({ revokedAt: 3000 })
    expect(await store.adminKeys().revoke('unknown00000').catch(String)).toContain(
      'There is no admin key with the ID unknown00000. To list all admin keys, run: weir admin-keys list',
    )
  })

  test('an admin key that expired more than thirty days ago is forgotten when another one is created', async () => {
    const store = await open()
    const create = (now: number, expiresAt: number | null) =>
      store.adminKeys(() => now).create({ name: `${now}`, expiresAt })
    await create(0, day)
    await create(1, 2 * day)
    await create(2, null)
    await create(31 * day + 1, null)
    const names = (await store.adminKeys().list()).map(({ name }) => name)
    expect(names).toEqual(['1', '2', `${31 * day + 1}`])
  })

  test('an empty database gets an admin key, if it is to have one', async () => {
    const store = await open()
    const first = await store.bootstrap({ admin: true })
    expect(first.hasAdminKey).toBe(true)
    expect(await store.adminKeys().list()).toEqual([first.adminKey!.record])
    expect(first.adminKey!.record).toMatchObject({
      name: 'first admin key',
      expiresAt: null,
      permissions: ['read', 'write', 'content'],
    })
    expect(await store.bootstrap({ admin: true })).toEqual({ hasAdminKey: true })
    await store.adminKeys().revoke(first.adminKey!.record.id)
    expect(await store.bootstrap({ admin: true })).toEqual({ hasAdminKey: false })
  })

  test('a database that has keys, but no admin key that is valid, gets none', async () => {
    const store = await open()
    expect(await store.bootstrap({ admin: false })).toMatchObject({ hasAdminKey: false, apiKey: {} })
    await store.adminKeys().create({ name: 'expired', expiresAt: Date.now() - 1 })
    expect(await store.bootstrap({ admin: true })).toEqual({ hasAdminKey: false })
    expect(await store.adminKeys().list()).toHaveLength(1)
  })
})

import { expect, test } from 'bun:test'
import { startOfIds } from '../../../src/lib/id.ts'
import { stepRows } from '../../../src/storage/common/store-limits.ts'
import type { AuditQuery } from '../../../src/storage/ports/audit.ts'
import { testStores } from './support/stores.ts'

testStores((open) => {
  test('pages and filters list each entry once, in both orders', async () => {
    const { organizations, keys, audit } = await open()
    const { id: acme } = await organizations.create('acme')
    const before = Date.now()
    await organizations.create('globex')
    const { record } = await keys().create({ organization: 'acme', name: 'laptop', expiresAt: null })
    await keys().change(record.id, { note: 'of ada' })
    await organizations.credit('globex', 1n)
    const read = async (query: Partial<AuditQuery>) =>
      (await audit.page({ order: 'asc', limit: 10, ...query }))?.items.map(
        ({ event, resource }) => `${event} ${resource.name}`,
      )
    const all = [
      'organization.created acme',
      'organization.created globex',
      'api_key.created laptop',
      'api_key.updated laptop',
      'organization.credited globex',
    ]
    expect(await read({})).toEqual(all)
    expect(await read({ order: 'desc' })).toEqual(all.toReversed())
    expect(await read({ organizationId: acme })).toEqual([all[0]!, all[2]!, all[3]!])
    for (const resource of [record.id, 'laptop'])
      expect(await read({ resources: [resource, 'none'] })).toEqual([all[2]!, all[3]!])
    expect(await read({ events: ['organization.credited', 'api_key.updated'] })).toEqual(all.slice(3))
    expect(await read({ actors: ['tester'] })).toEqual(all)
    expect(await read({ actors: ['tester'], actorType: 'api_key' })).toEqual([])
    expect(await read({ actorType: 'api_key' })).toEqual([])
    expect(await read({ actors: ['nobody'] })).toEqual([])
    expect(await read({ events: [] })).toEqual([])
    // An entry that is found by the id and by the name, or by all filters at once, is listed once.
    const many = [...Array.from({ length: 98 }, (_, index) => `none ${index}`), 'laptop', record.id]
    const every = { organizationId: acme, resources: many, actors: ['tester', ...many], since: before - 1000 }
    expect(await read({ ...every, events: ['api_key.updated'] })).toEqual([all[3]!])
    expect(await read({ ...every, limit: 1 })).toEqual([all[2]!])
    expect(await read({ ...every, limit: 1, order: 'desc' })).toEqual([all[3]!])
    expect(await read({ ...every, projects: many })).toEqual([])
    expect(await read({ since: before + 3_600_000 })).toEqual([])
    expect(await read({ since: before - 3_600_000, until: before + 3_600_000 })).toEqual(all)
    expect(await read({ until: before - 3_600_000 })).toEqual([])
    const first = await audit.page({ order: 'desc', limit: 2 })
    expect(first?.hasMore).toBe(true)
    const rest = await audit.page({ order: 'desc', limit: 3, after: first?.items.at(-1)?.id })
    expect([rest?.items.length, rest?.hasMore]).toEqual([3, false])
    expect(await audit.find(rest?.items[0]?.id ?? '')).toEqual(rest!.items[0]!)
    // Neither an unknown entry nor one of another organization is a cursor.
    const foreign = (await audit.page({ order: 'desc', limit: 1 }))?.items[0]?.id
    for (const after of ['audit_log-none', foreign])
      expect(await audit.page({ order: 'asc', limit: 1, organizationId: acme, after })).toBeUndefined()
  })

  test('an entry outlives its organization and is bounded, however many models a change names', async () => {
    const { organizations, keys, audit } = await open()
    const { id } = await organizations.create('acme')
    const models = Array.from({ length: 1000 }, (_, index) => `${index}/`.padEnd(256, 'x'))
    await keys().create({ organization: 'acme', name: 'laptop', expiresAt: null, models })
    await organizations.delete('acme')
    const { items = [] } = (await audit.page({ order: 'desc', limit: 10, organizationId: id })) ?? {}
    expect(items.map(({ event, organization }) => [event, organization])).toEqual([
      ['organization.deleted', 'acme'],
      ['api_key.created', 'acme'],
      ['organization.created', 'acme'],
    ])
    expect(items[1]?.after?.models).toEqual([...models.slice(0, 100), '… and 900 more'])
  })

  test('entries expire by their age, the oldest first, in small steps, and all others stay', async () => {
    const store = await open()
    await store.organizations.create('acme')
    const idAt = (time: number) => startOfIds('audit_log-', time).padEnd(42, '0')
    const rows = Array.from({ length: stepRows + 2 }, (_, index) => index + 1).map(
      (time) => `('${idAt(time)}', ${time}, 'budget.released', 'admin_key', 'api', 'api_key')`,
    )
    const columns = 'id, created_at, event, actor_type, source, resource_type'
    await store.rows(`INSERT INTO audit_entries (${columns}) VALUES ${rows.join()}`)
    const left = async () => (await store.audit.page({ order: 'asc', limit: 9 }))?.items.map(({ id }) => id)
    const [created] = (await store.audit.page({ order: 'desc', limit: 1 }))?.items ?? []
    const last = idAt(stepRows + 2)
    expect(await store.audit.expire(stepRows + 2)).toBe(stepRows)
    expect(await left()).toEqual([idAt(stepRows + 1), last, created!.id])
    expect(await store.audit.expire(stepRows + 2)).toBe(1)
    expect(await store.audit.expire(stepRows + 2)).toBe(0)
    expect(await left()).toEqual([last, created!.id])
  })

  test('no entry has the secret of a key or its hash', async () => {
    const store = await open()
    const { apiKey, adminKey } = await store.bootstrap()
    const { key } = await store.keys().create({ organization: 'default', name: 'ci', expiresAt: null })
    const { key: next } = await store.keys().rotate(apiKey?.record.id ?? '', 0)
    const text = JSON.stringify(await store.rows('SELECT * FROM audit_entries'))
    expect(text).toContain(apiKey!.record.id)
    for (const made of [apiKey!.key, adminKey!.key, key, next]) {
      const secret = made.reveal().split('-').at(-1) ?? ''
      expect(secret).toHaveLength(32)
      expect(text).not.toContain(secret)
    }
    for (const row of await store.rows(
      'SELECT secret_hash FROM api_keys UNION SELECT secret_hash FROM admin_keys',
    )) {
      const hash = Buffer.from(row.secret_hash as Uint8Array)
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(text).not.toContain(hash.toString(encoding))
    }
  })
})

import { expect, test } from 'bun:test'
import { testActor } from '../../support/actor.ts'
import { testStores, type TestStore, valuesOf } from './support/stores.ts'

/** What limits nothing. */
const defaultAllowance = { budget_period: 'none', budget_time_zone: 'UTC', enabled: true }

const key = { organization: 'acme', name: 'laptop', expiresAt: null }

/** The entries that are new since the last call, the oldest first. */
function follow({ audit }: TestStore) {
  let last: string | undefined
  return async () => {
    const page = await audit.page({ order: 'asc', limit: 1000, after: last })
    const items = page?.items ?? []
    last = items.at(-1)?.id ?? last
    return items.map(({ event, resource, before, after }) => [event, resource.name, before, after])
  }
}

testStores((open) => {
  test('a change of an organization has an entry with the values before and after, and one without effect none', async () => {
    const store = await open()
    const { organizations } = store
    const entries = follow(store)
    const created = await organizations.create('acme', { billing: 'prepaid', requestsPerMinute: 7 })
    expect(await entries()).toEqual([
      [
        'organization.created',
        'acme',
        null,
        { name: 'acme', billing: 'prepaid', ...defaultAllowance, requests_per_minute: 7 },
      ],
    ])
    expect((await store.audit.page({ order: 'asc', limit: 1 }))?.items).toEqual([
      expect.objectContaining({
        actor: testActor,
        organizationId: created.id,
        organization: 'acme',
        projectId: null,
      }),
    ])
    await organizations.change('acme', { budget: 5_000_000_000n, requestsPerMinute: 7 })
    expect(await entries()).toEqual([
      ['organization.updated', 'acme', { budget_usd: null }, { budget_usd: '5.00' }],
    ])
    await organizations.change('acme', { budget: 5_000_000_000n })
    expect(await entries()).toEqual([])
    await organizations.credit('acme', 12_500_000_000n, 'Invoice 7')
    expect(await entries()).toEqual([
      [
        'organization.credited',
        'acme',
        { balance_usd: '0.00', note: null },
        { balance_usd: '12.50', note: 'Invoice 7' },
      ],
    ])
    await organizations.change('acme', { name: 'globex' })
    expect(await entries()).toEqual([
      ['organization.updated', 'globex', { name: 'acme' }, { name: 'globex' }],
    ])
    await organizations.delete('globex')
    await organizations.create('globex')
    expect((await entries()).map(([event, name, , after]) => [event, name, after === null])).toEqual([
      ['organization.deleted', 'globex', true],
      ['organization.created', 'globex', false],
    ])
  })

  test('what is refused leaves no entry, also in a transaction that has changed something before', async () => {
    const store = await open()
    await store.organizations.create('acme')
    const entries = follow(store)
    await entries()
    const refused = [
      store.organizations.create('acme'),
      store.organizations.credit('acme', -1n),
      store.organizations.change('nobody', { billing: 'prepaid' }),
      store.keys().change('nosuchid', { note: 'x' }),
      store.keys().revoke('nosuchid'),
      store.projects.delete('proj_none'),
      store.adminKeys().revoke('nosuchid'),
      store.importAccounts({
        organization: 'acme',
        projects: [{ name: 'search' }],
        keys: [
          { name: 'one', expiresAt: null, project: 'search' },
          { name: 'two', expiresAt: null, project: 'missing' },
        ],
      }),
    ]
    for (const { status } of await Promise.allSettled(refused)) expect(status).toBe('rejected')
    expect(await entries()).toEqual([])
    expect(await valuesOf(store, 'SELECT name FROM projects')).toEqual([])
  })

  test('an import has an entry for each project and each key', async () => {
    const store = await open()
    await store.organizations.create('acme')
    const entries = follow(store)
    await entries()
    await store.importAccounts({
      organization: 'acme',
      projects: [{ name: 'search' }],
      keys: ['one', 'two'].map((name) => ({ name, expiresAt: null, project: 'search' })),
    })
    expect((await entries()).map(([event, name]) => [event, name])).toEqual([
      ['project.created', 'search'],
      ['api_key.created', 'one'],
      ['api_key.created', 'two'],
    ])
  })

  test('each change of keys and projects has an entry for each object, and what happened already has none', async () => {
    const store = await open()
    const [keys, { projects }] = [store.keys(() => 1000), store]
    await store.organizations.create('acme')
    const entries = follow(store)
    await entries()
    const { id: project } = await projects.create({ organization: 'acme', name: 'search' })
    const { record } = await keys.create({ ...key, project, permissions: ['mint'], budget: 9n })
    const { record: minted } = await keys.mint(record.id, { name: 'run', expiresAt: null, budget: 3n })
    expect((await entries()).map(([event, name]) => [event, name])).toEqual([
      ['project.created', 'search'],
      ['api_key.created', 'laptop'],
      ['api_key.created', 'run'],
    ])
    await keys.change(record.id, { models: [], tags: ['ci'] })
    await keys.change(record.id, { models: [], tags: ['ci'] })
    expect(await entries()).toEqual([
      ['api_key.updated', 'laptop', { tags: [], models: null }, { tags: ['ci'], models: [] }],
    ])
    const { record: next } = await keys.rotate(record.id, 500)
    const ends = { expires_at: '1970-01-01T00:00:01.500Z', replaced_by: next.id }
    expect(await entries()).toEqual([
      ['api_key.rotated', 'laptop', { expires_at: null, replaced_by: null }, ends],
      ['api_key.created', 'laptop', null, expect.objectContaining({ tags: ['ci'] })],
    ])
    const found = await store.audit.page({ order: 'asc', limit: 10, resources: [next.id] })
    expect(found?.items.map(({ event }) => event)).toEqual(['api_key.created'])
    await keys.revoke(record.id)
    await keys.revoke(record.id)
    const revoked = [{ revoked_at: null }, { revoked_at: '1970-01-01T00:00:01.000Z' }]
    expect((await entries()).toSorted((a, b) => String(a[1]).localeCompare(String(b[1])))).toEqual([
      ['api_key.deleted', 'laptop', ...revoked],
      ['api_key.deleted', minted.name, ...revoked],
    ])
    await projects.delete(project)
    await projects.delete(project)
    expect((await entries()).map(([event]) => event)).toEqual(['project.archived'])
  })

  test('admin keys, the first keys of a database and released budgets have entries', async () => {
    const store = await open()
    const entries = follow(store)
    await store.bootstrap()
    await store.bootstrap()
    const names = async () => (await entries()).map(([event, name]) => `${event} ${name}`)
    expect(await names()).toEqual([
      'organization.created default',
      'api_key.created first key',
      'admin_key.created first admin key',
    ])
    const adminKeys = store.adminKeys(() => 1000)
    const { record } = await adminKeys.create({ name: 'ada', expiresAt: null })
    await adminKeys.revoke(record.id)
    await adminKeys.revoke(record.id)
    expect(await names()).toEqual(['admin_key.created ada', 'admin_key.deleted ada'])
    const [organization] = await store.organizations.list()
    const id = organization?.id ?? ''
    await store.rows(
      `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated, notified)
        VALUES ('${id}', 0, '${id}', 0, 0, 7000000000, 0, 0)`,
    )
    for (let round = 0; round < 2; round++) await store.budgets.releaseHeld(id, { owner: id, start: 0 })
    expect(await entries()).toEqual([
      ['budget.released', 'default', { held_usd: '7.00' }, { held_usd: '0.00' }],
    ])
  })
})

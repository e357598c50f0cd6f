import { expect, test } from 'bun:test'
import type { AllowanceChange } from '../../../src/domain/accounting/allowance.ts'
import { type OpenStore, testStores } from './support/stores.ts'

async function startStorage(open: OpenStore) {
  const store = await open()
  const organizations = [await store.organizations.create('acme'), await store.organizations.create('globex')]
  const [acme, globex] = organizations.map(({ id }) => id) as [string, string]
  return { ...store, acme, globex, keys: store.keys(() => 1000) }
}

const key = { organization: 'acme', name: 'laptop', expiresAt: null }

/** Every field of an allowance, and what a new one has. */
const limits = {
  budget: 5_000_000_000n,
  budgetPeriod: 'week',
  budgetTimeZone: 'Europe/Berlin',
  requestsPerMinute: 5,
  tokensPerMinute: 6,
  concurrentRequests: 7,
  models: ['acme/*', 'globex/sea'],
  enabled: false,
} as const
const unlimited = {
  budget: null,
  budgetPeriod: 'none',
  budgetTimeZone: 'UTC',
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentRequests: null,
  models: null,
  enabled: true,
} as const

testStores((open) => {
  test('the names of projects are unique within an organization while they exist', async () => {
    const { projects } = await startStorage(open)
    const first = await projects.create({ organization: 'acme', name: 'research' })
    const taken = { organization: 'acme', name: 'research' }
    await expect(projects.create(taken)).rejects.toThrow('The project research already exists.')
    await projects.create({ ...taken, organization: 'globex' })
    const other = await projects.create({ organization: 'acme', name: 'sales' })
    await expect(projects.change(other.id, { name: 'research' })).rejects.toThrow('already exists')
    await projects.delete(first.id)
    expect((await projects.change(other.id, { name: 'research' })).name).toBe('research')
    for (const name of ['', ' a', 'a ', 'a'.repeat(129)])
      await expect(projects.create({ organization: 'acme', name })).rejects.toThrow('must have 1 to 128')
    await expect(projects.create({ organization: 'nobody', name: 'a' })).rejects.toThrow('no organization')
  })

  test('of concurrent projects with one name exactly one is created', async () => {
    const { projects } = await startStorage(open)
    const create = () => projects.create({ organization: 'acme', name: 'research' })
    const created = await Promise.allSettled(Array.from({ length: 10 }, create))
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('a deleted project stays deleted, is found, and is on no list', async () => {
    const { projects, acme } = await startStorage(open)
    const { id } = await projects.create({ organization: 'acme', name: 'research' })
    const { deletedAt } = await projects.delete(id)
    expect(deletedAt).toBeNumber()
    expect(await projects.delete(id)).toMatchObject({ deletedAt })
    expect(await projects.find(id)).toMatchObject({ name: 'research', organizationId: acme, deletedAt })
    expect(await projects.list()).toEqual([])
    const page = { organizationId: acme, limit: 5, order: 'asc' } as const
    expect((await projects.page({ ...page, deleted: false }))?.items).toEqual([])
    expect((await projects.page({ ...page, deleted: true }))?.items).toMatchObject([{ id }])
    await expect(projects.delete('proj_none')).rejects.toThrow('There is no project with the ID proj_none.')
  })

  test('projects are read page by page, and none of another organization', async () => {
    const { projects, acme, globex } = await startStorage(open)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd'])
      ids.push((await projects.create({ organization: name === 'b' ? 'globex' : 'acme', name })).id)
    const query = { organizationId: acme, limit: 2, order: 'asc', deleted: false } as const
    const names = async (change: object) =>
      (await projects.page({ ...query, ...change }))?.items.map(({ name }) => name)
    expect(await names({})).toEqual(['a', 'c'])
    expect(await names({ after: ids[2] })).toEqual(['d'])
    expect(await names({ order: 'desc' })).toEqual(['d', 'c'])
    expect(await names({ organizationId: globex })).toEqual(['b'])
    expect(await names({ after: ids[1] })).toBeUndefined()
    expect(await names({ organizationId: undefined, limit: 9 })).toEqual(['a', 'b', 'c', 'd'])
    expect((await projects.list('globex')).map(({ name }) => name)).toEqual(['b'])
  })

  test.each(['organization', 'project', 'key'] as const)(
    'the limits of a new %s can be set, changed one by one, and removed',
    async (owner) => {
      const { organizations, projects, keys } = await startStorage(open)
      const project = await projects.create({ organization: 'acme', name: 'research' })
      const { record } = await keys.create(key)
      const change = (limits: AllowanceChange) => {
        if (owner === 'organization') return organizations.change('acme', limits)
        return owner === 'project' ? projects.change(project.id, limits) : keys.change(record.id, limits)
      }
      expect((await change({})).limits).toEqual(unlimited)
      for (const [name, value] of Object.entries(limits))
        expect((await change({ [name]: value })).limits).toMatchObject({ [name]: value })
      expect((await change({})).limits).toEqual(limits)
      expect((await change({ models: [] })).limits).toEqual({ ...limits, models: [] })
      expect((await change(unlimited)).limits).toEqual(unlimited)
      for (const [invalid, message] of [
        [{ budget: -1n }, 'zero or more'],
        [{ budget: 10n ** 16n }, 'at most 9007199.25 USD'],
        [{ budgetTimeZone: 'Europe/Atlantis' }, 'There is no time zone Europe/Atlantis.'],
        [{ models: [''] }, 'must have 1 to 256 characters'],
        [{ models: Array.from({ length: 1001 }, () => 'a') }, 'at most 1000 entries'],
      ] as const)
        await expect(change(invalid)).rejects.toThrow(message)
      expect((await change({})).limits).toEqual(unlimited)
    },
  )

  test.each(['organization', 'project', 'key'] as const)(
    'concurrent changes of different limits of one %s all hold',
    async (owner) => {
      const { organizations, projects, keys } = await startStorage(open)
      const project = await projects.create({ organization: 'acme', name: 'research' })
      const { record } = await keys.create(key)
      const change = (limits: AllowanceChange) => {
        if (owner === 'organization') return organizations.change('acme', limits)
        return owner === 'project' ? projects.change(project.id, limits) : keys.change(record.id, limits)
      }
      await Promise.all(Object.entries(limits).map(([name, value]) => change({ [name]: value })))
      expect((await change({})).limits).toEqual(limits)
    },
  )

  test('the properties of a key can be set and changed, and a rotation keeps them with its budget', async () => {
    const { projects, keys } = await startStorage(open)
    const research = await projects.create({ organization: 'acme', name: 'research' })
    const properties = { permissions: ['mint', 'admin'], tags: ['a', 'b'], note: 'x', ...limits } as const
    const { record } = await keys.create({ ...key, ...properties, project: research.id })
    const project = { id: research.id, name: 'research' }
    const { permissions, tags, note } = properties
    expect(record).toMatchObject({ permissions, tags, note, project, limits, limitsId: record.id })
    const { record: rotated } = await keys.rotate(record.id, 100)
    expect(rotated).toMatchObject({ permissions, tags, note, project, limits, limitsId: record.id })
    const second = await keys.rotate(rotated.id, 100)
    expect(second.record.limitsId).toBe(record.id)
    const change = { name: 'desk', project: null, expiresAt: 9000, permissions: [], tags: [], note: null }
    expect(await keys.change(second.record.id, change)).toMatchObject({ ...change, limits })
    expect(await keys.find(second.record.id)).toMatchObject(change)
    await expect(keys.change('nosuchid', {})).rejects.toThrow('There is no API key with the ID nosuchid.')
  })

  test('a key can have no project of another organization, and no deleted one', async () => {
    const { projects, keys } = await startStorage(open)
    const foreign = await projects.create({ organization: 'globex', name: 'research' })
    const deleted = await projects.create({ organization: 'acme', name: 'sales' })
    await projects.delete(deleted.id)
    const { record } = await keys.create(key)
    for (const project of [foreign.id, deleted.id, 'proj_none']) {
      await expect(keys.create({ ...key, project })).rejects.toThrow(`no project with the ID ${project}`)
      await expect(keys.change(record.id, { project })).rejects.toThrow(`no project with the ID ${project}`)
    }
    expect(await keys.list()).toEqual([record])
  })

  test('keys are read page by page by organization, project, parent and permission', async () => {
    const { projects, keys, acme, globex } = await startStorage(open)
    const { id: projectId } = await projects.create({ organization: 'acme', name: 'research' })
    const ids: string[] = []
    for (const change of [{}, { project: projectId }, { organization: 'globex' }, { project: projectId }])
      ids.push((await keys.create({ ...key, name: `key ${ids.length}`, ...change })).record.id)
    const parentId = ids[3]!
    await keys.change(parentId, { permissions: ['mint'] })
    await keys.mint(parentId, { name: 'minted', expiresAt: null, budget: 0n })
    const names = async (query: object) =>
      (await keys.page({ limit: 9, order: 'asc', ...query }))?.items.map(({ name }) => name)
    expect(await names({ organizationId: acme })).toEqual(['key 0', 'key 1', 'key 3', 'minted'])
    expect(await names({ organizationId: globex })).toEqual(['key 2'])
    expect(await names({ projectId })).toEqual(['key 1', 'key 3', 'minted'])
    expect(await names({ organizationId: globex, projectId })).toEqual([])
    expect(await names({ projectId, after: ids[1] })).toEqual(['key 3', 'minted'])
    expect(await names({ projectId, after: ids[0] })).toBeUndefined()
    expect(await names({ organizationId: acme, after: ids[2] })).toBeUndefined()
    expect(await names({ parentId })).toEqual(['minted'])
    expect(await names({ permission: 'mint' })).toEqual(['key 3'])
    await keys.revoke(parentId)
    expect(await names({ projectId, unrevoked: true })).toEqual(['key 1'])
  })
})

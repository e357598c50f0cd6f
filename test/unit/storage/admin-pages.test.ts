import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { describe, expect, test } from 'bun:test'
import type { ListedPage, PageQuery } from '../../../src/storage/ports/listed-pages.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'
import { testStores } from './support/stores.ts'
import { testActor, testChange } from '../../support/actor.ts'

type Named = { readonly id: string; readonly name: string }
type ReadPage = (query: PageQuery) => Promise<ListedPage<Named> | undefined>

/** The names on each page of a list. */
async function pagesOf(read: ReadPage, order: PageQuery['order']): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = []
  for (let after: string | undefined; pages.length < 9;) {
    const page = await read({ after, limit: 2, order })
    if (page === undefined) throw new Error('The cursor is not known.')
    pages.push(page.items.map(({ name }) => name))
    if (!page.hasMore) break
    after = page.items.at(-1)?.id
  }
  return pages
}

testStores((open) => {
  test('API keys are read page by page in the order of creation, also where a clock was set back', async () => {
    const store = await open()
    await store.organizations.create('acme')
    const times = [5000, 4000, 4000, 6000, 1000]
    let index = 0
    const keys = store.keys(() => times[index] ?? 0)
    for (; index < times.length; index++)
      await keys.create({ organization: 'acme', name: `key ${index}`, expiresAt: null })
    expect(await pagesOf(keys.page, 'asc')).toEqual([['key 0', 'key 1'], ['key 2', 'key 3'], ['key 4']])
    expect(await pagesOf(keys.page, 'desc')).toEqual([['key 4', 'key 3'], ['key 2', 'key 1'], ['key 0']])
    expect((await keys.list()).map(({ name }) => name)).toEqual(times.map((_, place) => `key ${place}`))
    expect(await keys.page({ limit: 5, order: 'asc' })).toMatchObject({ hasMore: false })
    expect(await keys.page({ after: 'none', limit: 2, order: 'asc' })).toBeUndefined()
  })

  test('organizations are read page by page, without those that are being deleted', async () => {
    const { organizations } = await open()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await organizations.create(name)
    await organizations.beginDeletion('c')
    expect(await pagesOf(organizations.page, 'asc')).toEqual([['a', 'b'], ['d', 'e'], ['f']])
    expect(await pagesOf(organizations.page, 'desc')).toEqual([['f', 'e'], ['d', 'b'], ['a']])
    expect(await organizations.page({ after: 'none', limit: 2, order: 'desc' })).toBeUndefined()
  })
})

describe('in SQLite, a page is read by an index from its cursor on', () => {
  test.each(['asc', 'desc'] as const)('in the order %s', async (order) => {
    const { database, writer } = testStorage()
    const organization = await createOrganizations(createScriptRunner(database, writer), testChange).create(
      'acme',
    )
    const { record } = await createManagedStores(createScriptRunner(database, writer), testActor).keys.create(
      {
        organization: 'acme',
        name: 'key',
        expiresAt: null,
      },
    )
    const plans = plansOf(database, (reading) => {
      void createManagedStores(createScriptRunner(reading, writer), testActor).keys.page({
        after: record.id,
        limit: 2,
        order,
      })
      void createOrganizations(createScriptRunner(reading, writer), testChange).page({
        after: organization.id,
        limit: 2,
        order,
      })
    })
    const paged = [...plans].filter(([text]) => text.includes('order by')).map(([, plan]) => plan)
    const side = order === 'asc' ? '>' : '<'
    expect(paged).toEqual([
      expect.stringContaining(`SEARCH api_keys USING INTEGER PRIMARY KEY (rowid${side}?)`),
      expect.stringMatching(new RegExp(`SEARCH organizations USING .*\\(id${side}\\?\\)`)),
    ])
    for (const plan of paged) expect(plan).not.toMatch(/SCAN|TEMP B-TREE/)
  })
})

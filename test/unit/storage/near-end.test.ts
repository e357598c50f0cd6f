import { expect, test } from 'bun:test'
import type { AllowanceChange } from '../../../src/domain/accounting/allowance.ts'
import type { KeyInput } from '../../../src/storage/ports/accounts.ts'
import type { ListedPage } from '../../../src/storage/ports/listed-pages.ts'
import type { BudgetUse } from '../../../src/storage/ports/budgets.ts'
import { type OpenStore, testStores } from './support/stores.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 26, 12)
const november = Date.UTC(2026, 10, 1)
const october = Date.UTC(2026, 9, 1)
/** Today in Kiritimati, where it is 14 hours later. */
const todayInKiritimati = Date.UTC(2026, 10, 26, 10)

const monthly = { budget: 100n, budgetPeriod: 'month' } as const
const first = { limit: 100, order: 'asc', nearEndAt: now } as const

type Use = Partial<Readonly<Record<keyof BudgetUse, number>>>

/** An organization `acme`, and functions that create what may be near its end. */
async function startStore(open: OpenStore) {
  const store = await open()
  const { id: organizationId } = await store.organizations.create('acme')
  const keys = store.keys(() => now)
  const spend = async (
    owner: string,
    start: number,
    { spent = 0, reserved = 0, held = 0, allocated = 0 }: Use,
  ) =>
    store.rows(`INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
      VALUES ('${owner}', ${start}, '${organizationId}', ${spent}, ${reserved}, ${held}, ${allocated})`)
  const addKey = async (name: string, properties: Partial<KeyInput> = {}) => {
    const { record } = await keys.create({ organization: 'acme', name, expiresAt: null, ...properties })
    return record.id
  }
  const addProject = async (name: string, limits: AllowanceChange = {}) =>
    (await store.projects.create({ organization: 'acme', name, ...limits })).id
  return { ...store, keys, spend, addKey, addProject }
}

function namesOf(page: ListedPage<{ readonly name: string }> | undefined): readonly string[] | undefined {
  return page?.items.map(({ name }) => name)
}

testStores((open) => {
  test('a key is near its end from 80 % of its budget on, by all that counts as used in its current period', async () => {
    const { keys, addKey, spend } = await startStore(open)
    await addKey('no budget')
    await spend(await addKey('79 percent', monthly), november, { spent: 79 })
    await spend(await addKey('80 percent', monthly), november, { spent: 80 })
    await spend(await addKey('exhausted', monthly), november, { spent: 130 })
    const parts = { spent: 20, reserved: 20, held: 20, allocated: 20 }
    await spend(await addKey('all parts', monthly), november, parts)
    await spend(await addKey('last month', monthly), october, { spent: 100 })
    await spend(await addKey('before a change of the period', monthly), 0, { spent: 100 })
    await spend(await addKey('without periods', { budget: 100n }), 0, { spent: 90 })
    await addKey('budget of zero', { ...monthly, budget: 0n })
    const daily = { budget: 100n, budgetPeriod: 'day' } as const
    const far = { ...daily, budgetTimeZone: 'Pacific/Kiritimati' }
    await spend(await addKey('today in Kiritimati', far), todayInKiritimati, { spent: 90 })
    await spend(await addKey('not a day of UTC', daily), todayInKiritimati, { spent: 90 })
    const largest = 9_007_199_254_740_991
    const large = { budget: BigInt(largest) }
    await spend(await addKey('largest', large), 0, { spent: largest, reserved: largest, held: largest })
    expect(namesOf(await keys.page(first))).toEqual([
      '80 percent',
      'exhausted',
      'all parts',
      'without periods',
      'budget of zero',
      'today in Kiritimati',
      'largest',
    ])
  })

  test('a key that expires within a week is near its end, and one that has ended or cannot be used is not', async () => {
    const store = await startStore(open)
    const { organizations, projects, keys, addKey, addProject } = store
    const soon = { expiresAt: now + day, budget: 0n }
    await addKey('in 7 days', { expiresAt: now + 7 * day })
    await addKey('later', { expiresAt: now + 7 * day + 1 })
    await addKey('disabled', { ...soon, enabled: false })
    await addKey('expired', { ...soon, expiresAt: now + 1 })
    await keys.revoke(await addKey('revoked', soon))
    await addKey('of a project', { ...soon, project: await addProject('research') })
    const deleted = await addProject('deleted')
    await addKey('of a deleted project', { ...soon, project: deleted })
    await projects.delete(deleted)
    const disabled = await addProject('disabled', { enabled: false })
    await addKey('of a disabled project', { ...soon, project: disabled })
    for (const name of ['disabled', 'deleted']) {
      await organizations.create(name)
      await addKey(`of a ${name} organization`, { ...soon, organization: name })
    }
    await organizations.change('disabled', { enabled: false })
    await organizations.beginDeletion('deleted')
    const page = await keys.page({ ...first, nearEndAt: now + 1 })
    expect(namesOf(page)).toEqual(['in 7 days', 'later', 'of a project'])
    expect(namesOf(await keys.page(first))).toEqual(['in 7 days', 'expired', 'of a project'])
  })

  test('a key that replaces another one is near the end of the budget that both have', async () => {
    const { keys, addKey, spend } = await startStore(open)
    const replaced = await addKey('laptop', monthly)
    await spend(replaced, november, { spent: 80 })
    const { record } = await keys.rotate(replaced, 30 * day)
    expect((await keys.page(first))?.items.map(({ id }) => id)).toEqual([replaced, record.id])
  })

  test('keys near their end are read page by page, with other filters too', async () => {
    const { keys, addKey, addProject } = await startStore(open)
    const project = await addProject('research')
    const ids: string[] = []
    for (const letter of ['a', 'b', 'c', 'd', 'e'])
      ids.push(await addKey(`key ${letter}`, { project, expiresAt: letter === 'c' ? null : now + day }))
    const pages = { ...first, limit: 2 }
    expect(await keys.page(pages)).toMatchObject({
      items: [{ name: 'key a' }, { name: 'key b' }],
      hasMore: true,
    })
    expect(await keys.page({ ...pages, after: ids[1] })).toMatchObject({
      items: [{ name: 'key d' }, { name: 'key e' }],
      hasMore: false,
    })
    expect(namesOf(await keys.page({ ...pages, order: 'desc', after: ids[4] }))).toEqual(['key d', 'key b'])
    // One that has been near its end is its cursor all the same.
    expect(namesOf(await keys.page({ ...pages, after: ids[2] }))).toEqual(['key d', 'key e'])
    expect(namesOf(await keys.page({ ...pages, projectId: project, search: 'Y D' }))).toEqual(['key d'])
    expect(namesOf(await keys.page({ ...pages, projectId: 'proj_none' }))).toEqual([])
  })

  test('a project is near its end by its budget, unless it is deleted, disabled or of an organization that is', async () => {
    const { organizations, projects, addProject, spend } = await startStore(open)
    await addProject('no budget')
    await spend(await addProject('79 percent', monthly), november, { spent: 79 })
    await spend(await addProject('80 percent', monthly), november, { spent: 80 })
    await addProject('disabled', { budget: 0n, enabled: false })
    await projects.delete(await addProject('deleted', { budget: 0n }))
    await addProject('zero', { budget: 0n })
    await organizations.create('globex')
    await projects.create({ organization: 'globex', name: 'of a disabled organization', budget: 0n })
    const page = { ...first, deleted: true }
    expect(namesOf(await projects.page(page))).toEqual(['80 percent', 'zero', 'of a disabled organization'])
    await organizations.change('globex', { enabled: false })
    expect(namesOf(await projects.page({ ...page, order: 'desc' }))).toEqual(['zero', '80 percent'])
    expect(await projects.page({ ...page, limit: 1 })).toMatchObject({ hasMore: true })
  })

  test('an organization is near its end by its budget or a prepaid balance of at most 1 USD', async () => {
    const { organizations, rows, spend } = await startStore(open)
    const add = async (name: string, change: Parameters<typeof organizations.change>[1], balance = 0n) => {
      await organizations.create(name)
      if (balance > 0n) await organizations.credit(name, balance)
      return (await organizations.change(name, change)).id
    }
    const usd = 1_000_000_000n
    await add('1 USD', { billing: 'prepaid' }, usd)
    await add('more', { billing: 'prepaid' }, usd + 1n)
    await add('reserved', { billing: 'prepaid' }, 3n * usd)
    await rows(`UPDATE organizations SET reserved = ${2n * usd} WHERE name = 'reserved'`)
    await add('empty', { billing: 'prepaid' })
    await add('unmetered', { billing: 'unmetered' })
    await spend(await add('79 percent', monthly), november, { spent: 79 })
    await spend(await add('80 percent', { ...monthly, billing: 'prepaid' }, 9n * usd), november, {
      spent: 80,
    })
    await add('disabled', { billing: 'prepaid', budget: 0n, enabled: false })
    await add('deleted', { billing: 'prepaid', budget: 0n })
    await organizations.beginDeletion('deleted')
    const near = ['1 USD', 'reserved', 'empty', '80 percent']
    expect(namesOf(await organizations.page(first))).toEqual(near)
    const [, last] = (await organizations.page({ ...first, limit: 2 }))?.items ?? []
    expect(await organizations.page({ ...first, limit: 2, after: last?.id })).toMatchObject({
      items: [{ name: 'empty' }, { name: '80 percent' }],
      hasMore: false,
    })
    expect(namesOf(await organizations.page({ ...first, search: '0 PERCENT' }))).toEqual(['80 percent'])
  })
})

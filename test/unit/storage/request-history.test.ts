import { expect, test } from 'bun:test'
import type { RequestFilters } from '../../../src/storage/ports/requests.ts'
import { blockRows } from '../../../src/storage/scripts/usage-blocks.ts'
import { type OpenStore, type TestStore, testStores, valuesOf } from './support/stores.ts'
import { usageStorage } from './support/usage-fixture.ts'

const start = 1_700_000_000_000
const intervalMs = 10

type TestRow = {
  readonly id: string
  readonly time: number
  readonly key: string
  readonly model: string | null
  readonly provider: string | null
  readonly status: number
  readonly error: string | null
  readonly user: string | null
  readonly project: string | null
  readonly session: string | null
}

/** A row of many kinds: what its number divides by. A few have the time of the one before. */
function rowOf(index: number): TestRow {
  const time = start + (index - (index % 7 === 3 ? 1 : 0)) * intervalMs
  const reached = index % 90 !== 4
  return {
    id: idOf(time, index),
    time,
    key: `key${index % 5}`,
    model: reached ? `acme/m${index % 4}` : null,
    provider: reached ? providerOf(index) : null,
    ...endOf(index),
    user: index % 3 === 0 ? `user${index % 100}` : null,
    project: index % 5 === 1 ? 'proj_1' : null,
    session: index % 2 === 0 ? `session${Math.floor(index / 40)}` : null,
  }
}

function providerOf(index: number): string {
  return index % 701 === 9 ? 'rare' : 'acme'
}

/** Some fail with a code, some without one, and some in the middle of their stream. */
function endOf(index: number): Pick<TestRow, 'status' | 'error'> {
  if (index % 50 === 1) return { status: 502, error: 'error502' }
  if (index % 30 === 2) return { status: 400, error: index % 60 === 2 ? null : 'error400' }
  return { status: 200, error: index % 150 === 5 ? 'upstream_timeout' : null }
}

function idOf(time: number, index: number): string {
  return `req_${time.toString(16).padStart(12, '0')}7${index.toString(16).padStart(19, '0')}`
}

function literal(value: string | number | null): string {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `'${value}'`
}

async function insert(store: TestStore, organization: string, rows: readonly TestRow[]): Promise<void> {
  const values = rows.map(
    ({ id, time, key, model, provider, status, error, user, project, session }) =>
      `(${[id, organization, key, time, 'chat', model, provider, status, error, user, project, session].map(literal).join()}, 1 = 0, 1, 2, 0, 0, 0, 1 = 0, 7)`,
  )
  await store.rows(`INSERT INTO usage (id, organization_id, key_id, created_at, api, model, provider, status, error,
    "user", project_id, session, stream, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated,
    cost) VALUES ${values.join()}`)
}

/** A store with rows of two organizations, of which the other one has every 97th. */
async function filled(open: OpenStore, count: number) {
  const scenario = await usageStorage(open)
  const { store, acme, other } = scenario
  const rows = Array.from({ length: count }, (_, index) => rowOf(index))
  const isOthers = (_: TestRow, index: number) => index % 97 === 11
  await insert(store, other.id, rows.filter(isOthers))
  await insert(
    store,
    acme.id,
    rows.filter((row, index) => !isOthers(row, index)),
  )
  const addBlocks = async () => {
    while ((await store.usage.rollUp()) > 0);
  }
  return { ...scenario, rows, isOthers, addBlocks }
}

/** The ids of all pages, and the number of pages. */
async function readAll(store: TestStore, filters: RequestFilters, options: object = {}, maxRows?: number) {
  const history = store.requestHistory(maxRows)
  const ids: string[] = []
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const { items, next } = await history.page({ filters, limit: 100, after, ...options })
    ids.push(...items.map(({ id }) => id))
    if (next === undefined) return { ids, pages }
    after = next
  }
}

testStores((open) => {
  test('blocks are added while the totals are not complete, as under a steady load', async () => {
    const { store } = await filled(open, 1500)
    // The rows of one step may be fewer than those of a block.
    for (let steps = 0; steps < 2; steps++) expect(await store.usage.rollUp()).toBeGreaterThan(0)
    const blocks = await valuesOf(store, 'SELECT until FROM usage_blocks WHERE property = 0')
    expect(blocks.length).toBeGreaterThan(0)
  })

  test('the pages of each filter have the requests of it, the newest first, before and after blocks are added', async () => {
    const { store, acme, other, rows, isOthers, addBlocks } = await filled(open, 1500)
    const expected = (matches: (row: TestRow, index: number) => boolean) =>
      rows
        .filter(matches)
        .toSorted((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1))
        .map(({ id }) => id)
    const failed = ({ status, error }: TestRow) => status !== 200 || error !== null
    const cases: [RequestFilters, (row: TestRow, index: number) => boolean][] = [
      [{}, () => true],
      [{ organization: acme.id }, (row, index) => !isOthers(row, index)],
      [{ organization: other.id }, isOthers],
      [{ key: 'key3' }, ({ key }) => key === 'key3'],
      [{ model: 'acme/m2' }, ({ model }) => model === 'acme/m2'],
      [{ provider: 'rare' }, ({ provider }) => provider === 'rare'],
      [{ status: '502' }, ({ status }) => status === 502],
      [{ status: '4xx' }, ({ status }) => status === 400],
      [{ status: '5xx' }, ({ status }) => status === 502],
      [{ status: 'failed' }, failed],
      [{ error: 'upstream_timeout' }, ({ error }) => error === 'upstream_timeout'],
      [{ error: 'status_400' }, ({ error, status }) => error === null && status === 400],
      [{ user: 'user42' }, ({ user }) => user === 'user42'],
      [{ user: 'nobody' }, () => false],
      [{ project: 'proj_1' }, ({ project }) => project === 'proj_1'],
      [{ session: 'session7' }, ({ session }) => session === 'session7'],
      [
        { organization: acme.id, key: 'key1', status: 'failed' },
        (row, index) => !isOthers(row, index) && row.key === 'key1' && failed(row),
      ],
    ]
    for (const [filters, matches] of cases)
      expect({ filters, ...(await readAll(store, filters)) }).toMatchObject({
        filters,
        ids: expected(matches),
      })
    await addBlocks()
    for (const [filters, matches] of cases)
      expect({ filters, ...(await readAll(store, filters)) }).toMatchObject({
        filters,
        ids: expected(matches),
      })
    const within = { since: start + 4000, until: start + 9000 }
    const isWithin = ({ time }: TestRow) => time >= within.since && time < within.until
    for (const [filters, matches] of cases) {
      const ids = expected((row, index) => isWithin(row) && matches(row, index))
      expect({ filters, ...(await readAll(store, filters, within)) }).toMatchObject({ filters, ids })
    }
  })

  test('a page ends after some work, and the next one goes on there', async () => {
    const { store, rows } = await filled(open, 8 * blockRows * 3)
    const wanted = rows.filter(({ provider }) => provider === 'rare').map(({ id }) => id)
    const { ids, pages } = await readAll(store, { provider: 'rare' }, {}, 1)
    expect(ids).toEqual(wanted.toReversed())
    expect(pages).toBeGreaterThanOrEqual(3)
  })

  test('what is rare is found in one page that reads only the blocks that have it', async () => {
    const { store, rows, addBlocks } = await filled(open, 20 * blockRows)
    await store.rows(`UPDATE usage SET "user" = 'bob' WHERE id IN ('${rows[300]?.id}', '${rows[4000]?.id}')`)
    await addBlocks()
    const { ids, pages } = await readAll(store, { user: 'bob' }, {}, 8 * blockRows + 3 * blockRows)
    expect({ ids, pages }).toEqual({ ids: [rows[4000]!.id, rows[300]!.id], pages: 1 })
    const none = await readAll(store, { user: 'bob', status: '999' }, {}, 8 * blockRows + 1)
    expect(none).toEqual({ ids: [], pages: 1 })
  })

  test('a request that is recorded late is found in the block of its time', async () => {
    const { store, add, acme, addBlocks } = await filled(open, 4 * blockRows)
    await addBlocks()
    const time = start + 100 * intervalMs
    const late = { id: idOf(time, 99_999), createdAt: time, user: 'late' }
    await add(late)
    await store.written()
    await addBlocks()
    expect((await readAll(store, { user: 'late', organization: acme.id })).ids).toEqual([late.id])
    expect(await store.requestHistory().find(late.id)).toMatchObject({
      id: late.id,
      organization: 'acme',
      user: 'late',
      cost: 50n,
      stream: false,
      keyName: null,
    })
    expect(await store.requestHistory().find(idOf(time, 77_777))).toBeUndefined()
    expect(await store.requestHistory().find("'; no id")).toBeUndefined()
  })

  test('blocks go with the rows that expire, and those of a deleted organization are not found', async () => {
    const { store, other, isOthers, rows, addBlocks } = await filled(open, 4 * blockRows)
    await addBlocks()
    expect((await valuesOf(store, 'SELECT count(*) FROM usage_blocks WHERE property = 0'))[0]).not.toEqual([
      0,
    ])
    const middle = start + 2 * blockRows * intervalMs
    while ((await store.usage.expire(middle)) > 0);
    expect(await valuesOf(store, `SELECT * FROM usage_blocks WHERE until < ${middle - intervalMs}`)).toEqual(
      [],
    )
    const left = rows.filter((row, index) => row.time >= middle && isOthers(row, index)).map(({ id }) => id)
    expect((await readAll(store, { organization: other.id })).ids).toEqual(left.toReversed())
    await store.organizations.beginDeletion('other')
    expect((await readAll(store, { organization: other.id })).ids).toEqual([])
    while ((await store.usage.expire(Date.now())) > 0);
    expect(await valuesOf(store, 'SELECT * FROM usage_blocks')).toEqual([])
  })
})

import { describe, expect, test } from 'bun:test'
import { completionId } from '../../support/completion-id.ts'
import { startApp, type App } from '../../support/app.ts'
import {
  listCompletionIds,
  listCompletions,
  storeCompletion,
  storedPath,
} from '../../support/stored-completions.ts'
import { startOnce } from '../../support/start-once.ts'

const echo = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }], metadata: { kept: 'yes' } }

/** An app in which so many are kept, and their ids, oldest first. */
async function startWith(count: number) {
  const app = await startApp()
  const ids: string[] = []
  for (let number = 0; number < count; number++) ids.push((await storeCompletion(app, echo)).id)
  return { app, ids, [Symbol.asyncDispose]: () => app.stop() }
}

async function remove(app: App, id: string): Promise<void> {
  await app.request(`${storedPath}/${id}`, { method: 'DELETE' })
}

const filters = ['', 'model=weir/echo', 'metadata[kept]=yes', 'metadata[kept]=yes&model=weir/echo']

const withNine = startOnce(() => startWith(9))

describe.each([['asc'], ['desc']])('paging through a list in the order %s', (order) => {
  test.each(filters)('with "%s" visits each completion once', async (filter) => {
    const scenario = await withNine()
    const expected = order === 'asc' ? scenario.ids : scenario.ids.toReversed()
    for (const limit of [1, 2, 3, 4, 9, 10]) {
      const seen: string[] = []
      for (let after = ''; ;) {
        const page = await listCompletions(scenario.app, `${filter}&order=${order}&limit=${limit}${after}`)
        seen.push(...page.data.map(({ id }) => id))
        expect([page.first_id, page.last_id]).toEqual([
          page.data[0]?.id ?? null,
          page.data.at(-1)?.id ?? null,
        ])
        expect(page.has_more).toBe(seen.length < expected.length)
        if (!page.has_more) break
        after = `&after=${page.last_id}`
      }
      expect(seen).toEqual(expected)
    }
  })

  test.each(filters)(
    'with "%s" skips nothing when completions are deleted between two pages',
    async (filter) => {
      await using scenario = await startWith(8)
      const { app } = scenario
      const expected = order === 'asc' ? scenario.ids : scenario.ids.toReversed()
      const page = (after: string) =>
        listCompletionIds(app, `${filter}&order=${order}&limit=3&after=${after}`)
      const first = await listCompletionIds(app, `${filter}&order=${order}&limit=3`)
      expect(first).toEqual(expected.slice(0, 3))
      // The cursor itself, one before it and the next one.
      for (const place of [2, 0, 3]) await remove(app, expected[place]!)
      expect(await page(expected[2]!)).toEqual(expected.slice(4, 7))
      expect(await page(expected[6]!)).toEqual(expected.slice(7))
    },
  )

  test('finds a completion that is stored between two pages at the newest end and nowhere else', async () => {
    await using scenario = await startWith(4)
    const { app, ids } = scenario
    const first = await listCompletionIds(app, `order=${order}&limit=2`)
    const { id } = await storeCompletion(app, echo)
    const rest = await listCompletionIds(app, `order=${order}&after=${first.at(-1)}`)
    expect([...first, ...rest]).toEqual(order === 'asc' ? [...ids, id] : ids.toReversed())
  })
})

test('the cursor of a completion that never existed stands for its creation time', async () => {
  await using scenario = await startWith(4)
  const { app, ids } = scenario
  const after = (id: string, order: string) => listCompletionIds(app, `order=${order}&after=${id}`)
  expect(await after(completionId(Date.now() - 3_600_000), 'asc')).toEqual(ids)
  expect(await after(completionId(Date.now() - 3_600_000), 'desc')).toEqual([])
  expect(await after(completionId(Date.now() + 3_600_000), 'asc')).toEqual([])
  expect(await after(completionId(Date.now() + 3_600_000), 'desc')).toEqual(ids.toReversed())
})

test('completions of the same moment are ordered by their ids', async () => {
  await using app = await startApp()
  const replies = await Promise.all(Array.from({ length: 100 }, () => storeCompletion(app, echo)))
  const ids = replies.map(({ id }) => id).toSorted()
  expect(await listCompletionIds(app, 'limit=100')).toEqual(ids)
  expect(await listCompletionIds(app, 'limit=100&order=desc&metadata[kept]=yes')).toEqual(ids.toReversed())
  const created = (await listCompletions(app, 'limit=100')).data.map((completion) => completion.created)
  expect(created.toSorted((a, b) => a - b)).toEqual(created)
})

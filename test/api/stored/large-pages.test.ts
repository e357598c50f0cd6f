import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type App, startApp } from '../../support/app.ts'
import { waitForRelease } from '../../support/memory.ts'
import {
  listInputItems,
  replayResponse,
  postResponse,
  createResponse,
  responsesPath,
  retrieveResponse,
} from '../../support/responses.ts'
import {
  type ListBody,
  listCompletions,
  storeCompletion,
  storedPath,
} from '../../support/stored-completions.ts'

/** In bytes: three of them are on a page, and no fourth. */
const size = 5_000_000
const maxPage = 16 * 1024 * 1024
const long = (letter: string) => letter.repeat(size)
const echo = { model: 'weir/echo' }

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

type Items = ListBody<{ readonly id: string }>

/** The ids of all pages, page by page, and the size of each. */
async function pages(path: string, query: string) {
  const found: { readonly ids: readonly string[]; readonly bytes: number }[] = []
  for (let after = ''; ;) {
    const text = await (await app.request(`${path}?${query}${after}`)).text()
    const page = JSON.parse(text) as Items
    const ids = page.data.map(({ id }) => id)
    expect([page.first_id, page.last_id]).toEqual([ids[0] ?? null, ids.at(-1) ?? null])
    found.push({ ids, bytes: text.length })
    if (!page.has_more) return found
    after = `&after=${page.last_id}`
  }
}

/** So many on each page, all of them once, and no page much larger than it may be. */
async function expectPages(path: string, query: string, ids: readonly string[], counts: readonly number[]) {
  const found = await pages(path, query)
  expect(found.map(({ ids }) => ids.length)).toEqual([...counts])
  expect(found.flatMap(({ ids }) => ids)).toEqual([...ids])
  for (const { ids, bytes } of found) if (ids.length > 1) expect(bytes).toBeLessThan(maxPage + 10_000)
}

test('a page of stored completions ends before it is too large, and the next one continues', async () => {
  const ids: string[] = []
  for (const letter of 'abcde')
    ids.push(
      (await storeCompletion(app, { ...echo, messages: [{ role: 'user', content: long(letter) }] })).id,
    )
  await expectPages(storedPath, 'order=asc', ids, [3, 2])
  await expectPages(storedPath, 'order=desc&limit=100', ids.toReversed(), [3, 2])
  await expectPages(storedPath, 'limit=2', ids, [2, 2, 1])
  const one = await app.request(`${storedPath}/${ids[0]}`)
  expect((await one.text()).length).toBeGreaterThan(size)
  for (const id of ids) await app.request(`${storedPath}/${id}`, { method: 'DELETE' })
  await waitForRelease(app)
}, 120_000)

test('one item that is larger than a page is a page of its own', async () => {
  const messages = [{ role: 'user', content: long('a').repeat(3).concat(long('b').slice(0, 2_500_000)) }]
  const { id } = await storeCompletion(app, {
    ...echo,
    messages: [...messages, { role: 'user', content: 'b' }],
  })
  const ids = [`${id}-0`, `${id}-1`]
  await expectPages(`${storedPath}/${id}/messages`, '', ids, [1, 1])
  expect((await listCompletions(app)).data.map(({ id }) => id)).toEqual([id])
  await app.request(`${storedPath}/${id}`, { method: 'DELETE' })
}, 120_000)

test('a page of messages or of input items ends before it is too large', async () => {
  const messages = [...'abcde'].map((letter) => ({ role: 'user', content: long(letter) }))
  const { id } = await storeCompletion(app, { ...echo, messages })
  const ids = messages.map((_, index) => `${id}-${index}`)
  await expectPages(`${storedPath}/${id}/messages`, '', ids, [3, 2])
  await expectPages(`${storedPath}/${id}/messages`, 'order=desc', ids.toReversed(), [3, 2])
  const { id: response } = await createResponse(app, { ...echo, input: messages })
  const items = (await listInputItems(app, response, 'order=asc&limit=1')).data.map(({ id }) => id)
  const path = `${responsesPath}/${response}/input_items`
  const found = (await pages(path, 'order=asc')).flatMap(({ ids }) => ids)
  expect(found).toHaveLength(5)
  expect(found.slice(0, 1)).toEqual(items)
  await expectPages(path, 'order=asc', found, [3, 2])
  await expectPages(path, '', found.toReversed(), [3, 2])
  await waitForRelease(app)
}, 120_000)

test('a large response is retrieved, followed and replayed as it was sent', async () => {
  const instructions = `${long('é').slice(0, 999_999)}😀`.repeat(3)
  const received = await createResponse(app, { ...echo, instructions, input: long('a') })
  expect(Bun.deepEquals(await retrieveResponse(app, received.id), received)).toBe(true)
  const { types, last } = await replayResponse(app, received.id)
  expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
  expect(Bun.deepEquals(last, received)).toBe(true)
  const next = await postResponse(app, { ...echo, input: 'b', previous_response_id: received.id })
  expect(next.status).toBe(200)
  await next.text()
  await waitForRelease(app)
}, 120_000)

test('a page of stored responses ends before it is too large, and the next one continues', async () => {
  const earlier = await pages(responsesPath, 'order=asc&limit=100')
  const last = earlier.at(-1)?.ids.at(-1)
  const ids: string[] = []
  for (const letter of 'abcde') ids.push((await createResponse(app, { ...echo, input: long(letter) })).id)
  const after = last === undefined ? '' : `&after=${last}`
  const page = async (query: string) =>
    (await (await app.request(`${responsesPath}?${query}`)).json()) as Items
  const first = await page(`order=asc&limit=100${after}`)
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([ids.slice(0, 3), true])
  const second = await page(`order=asc&limit=100&after=${first.last_id}`)
  expect([second.data.map(({ id }) => id), second.has_more]).toEqual([ids.slice(3), false])
})

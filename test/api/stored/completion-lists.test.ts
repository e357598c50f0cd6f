import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { type App, startApp } from '../../support/app.ts'
import {
  listCompletionIds,
  listCompletions,
  storeCompletion,
  storedPath,
} from '../../support/stored-completions.ts'

let app: App
const names: string[] = []
const byName = new Map<string, string>()

const stored: Readonly<Record<string, object>> = {
  plain: {},
  river: { topic: 'rivers', level: 4 },
  lake: { topic: 'lakes', level: '4', open: true },
  odd: { 'a[b]': 'x', 'c.d': 'y', 'é ü': 'ö+', 'with=and&': '100%', '': 'none', "it's": "'" },
  typed: { none: null, yes: true, half: 0.5, list: [1, 'a'], nested: { a: { b: null } }, empty: '' },
  word: { word: 'null', level: 'four' },
}

beforeAll(async () => {
  app = await startApp({
    settings: {
      providers: { echo: {} },
      models: [
        { slug: 'weir/echo', aliases: ['parrot'] },
        { slug: 'acme/other', routes: [{ provider: 'echo', model: 'echo' }] },
      ],
    },
  })
  const messages = [{ role: 'user', content: 'Hello' }]
  for (const [name, metadata] of Object.entries(stored)) {
    const model = name === 'river' ? 'acme/other' : 'weir/echo'
    const { id } = await storeCompletion(app, { model, messages, metadata })
    names.push(name)
    byName.set(id, name)
  }
})
afterAll(() => app.stop())

async function namesListed(query: string): Promise<(string | undefined)[]> {
  return (await listCompletionIds(app, query)).map((id) => byName.get(id))
}

test('a list has all completions in the order of creation, each as it is retrieved alone', async () => {
  const { object, data, first_id, last_id, has_more } = await listCompletions(app)
  expect([object, has_more]).toEqual(['list', false])
  expect(data.map(({ id }) => byName.get(id))).toEqual(names)
  expect([first_id, last_id]).toEqual([data[0]?.id ?? null, data.at(-1)?.id ?? null])
  for (const one of data)
    expect<unknown>(await (await app.request(`${storedPath}/${one.id}`)).json()).toEqual(one)
  expect(await namesListed('order=desc')).toEqual(names.toReversed())
})

test('an empty list has null first and last ids', async () => {
  const empty = { object: 'list', data: [], first_id: null, last_id: null, has_more: false }
  expect(await listCompletions(app, 'model=nobody/nothing')).toEqual(empty)
  expect(await listCompletions(app, 'metadata[a]=b')).toEqual(empty)
})

describe('a list that is filtered by model has only its completions:', () => {
  test.each([
    ['model=acme/other', ['river']],
    ['model=acme%2Fother', ['river']],
    ['model=other', ['river']],
    ['model=parrot&limit=2', ['plain', 'lake']],
    ['model=', []],
    ['model=weir/echo&order=desc&limit=1', ['word']],
    ['model=acme/other&metadata[topic]=rivers', ['river']],
    ['model=other&metadata[level]=4', ['river']],
    ['model=parrot&metadata[level]=4', ['lake']],
    ['model=acme/other&metadata[topic]=lakes', []],
  ])('%s', async (query, expected) => {
    expect(await namesListed(query)).toEqual(expected)
  })
})

describe('a list that is filtered by metadata has only the completions with all the pairs:', () => {
  test.each([
    ['metadata[topic]=rivers', ['river']],
    ['metadata%5Btopic%5D=rivers', ['river']],
    ['metadata%5btopic%5d=rivers', ['river']],
    ['metadata[level]=4', ['river', 'lake']],
    ['metadata[level]=4&order=desc', ['lake', 'river']],
    ['metadata[level]=4&metadata[topic]=lakes', ['lake']],
    ['metadata[level]=4&metadata[level]=4', ['river', 'lake']],
    ['metadata[level]=4&metadata[level]=5', []],
    ['metadata[level]=4&metadata[nothing]=4', []],
    ['metadata[Level]=4', []],
    ['metadata[topic]=river', []],
    ['metadata[a[b]]=x', ['odd']],
    ['metadata[a%5Bb%5D]=x', ['odd']],
    ['metadata[c.d]=y', ['odd']],
    ['metadata[%C3%A9+%C3%BC]=%C3%B6%2B', ['odd']],
    ['metadata[é ü]=ö%2b', ['odd']],
    ['metadata[with%3Dand%26]=100%25', ['odd']],
    ["metadata[it's]='", ['odd']],
    ['metadata[]=none', ['odd']],
    ['metadata[none]=null', ['typed']],
    ['metadata[word]=null', ['word']],
    ['metadata[yes]=true', ['typed']],
    ['metadata[half]=0.5', ['typed']],
    ['metadata[list]=[1,"a"]', ['typed']],
    ['metadata[nested]={"a":{"b":null}}', ['typed']],
    ['metadata[empty]=', ['typed']],
    ['metadata[empty]', ['typed']],
    ['metadata[__proto__]=x', []],
    ['metadata[toString]=x', []],
  ])('%s', async (query, expected) => {
    expect(await namesListed(query)).toEqual(expected)
  })

  test('hundreds of pairs', async () => {
    const pairs = Array.from({ length: 300 }, (_, index) => [`k${index}`, `v${index}`] as const)
    const { id } = await storeCompletion(app, {
      model: 'weir/echo',
      messages: [{ role: 'user', content: 'Hello' }],
      metadata: Object.fromEntries(pairs),
    })
    const query = pairs.map(([key, value]) => `metadata[${key}]=${value}`).join('&')
    expect(await listCompletionIds(app, query)).toEqual([id])
    expect(await listCompletionIds(app, `${query}&metadata[k0]=v1`)).toEqual([])
    await app.request(`${storedPath}/${id}`, { method: 'DELETE' })
  })
})

test.each([
  ['limit=0', 'limit', 'integer_below_min_value'],
  ['limit=-1', 'limit', 'integer_below_min_value'],
  ['limit=101', 'limit', 'integer_above_max_value'],
  ['limit=99999999999999999999', 'limit', 'integer_above_max_value'],
  ['limit=', 'limit', 'invalid_type'],
  ['limit=ten', 'limit', 'invalid_type'],
  ['limit=1.5', 'limit', 'invalid_type'],
  ['limit=1e1', 'limit', 'invalid_type'],
  ['limit=%FF', 'limit', 'invalid_value'],
  ['order=ASC', 'order', 'invalid_value'],
  ['order=', 'order', 'invalid_value'],
  ['after=', 'after', 'invalid_value'],
  ['after=x', 'after', 'invalid_value'],
  ['after=chatcmpl-1', 'after', 'invalid_value'],
  ['after=chatcmpl-00000000000040008000000000000000', 'after', 'invalid_value'],
  ['after=CHATCMPL-01a1fc0ac59b71dda2489e80f96c70d0', 'after', 'invalid_value'],
  ['after=%', 'after', 'invalid_value'],
  ['model=%E0%A4', 'model', 'invalid_value'],
  ['metadata=x', 'metadata', 'invalid_value'],
  ['metadata', 'metadata', 'invalid_value'],
  ['metadata[x', 'metadata', 'invalid_value'],
  ['metadata[=x', 'metadata', 'invalid_value'],
  ['metadata[a]b=x', 'metadata', 'invalid_value'],
  ['metadata[a]=%FF', 'metadata', 'invalid_value'],
  ['metadata[%FF]=a', 'metadata', 'invalid_value'],
  ['metadata%5B%=a', 'metadata', 'invalid_value'],
])('a list with %s is rejected', async (query, param, code) => {
  const reply = await app.request(`${storedPath}?${query}`)
  expect(await readError(reply)).toMatchObject({ status: 400, type: 'invalid_request_error', param, code })
  expect(app.lines).toEqual([])
})

test.each([
  ['unknown=%FF'],
  ['%FF=1'],
  ['metadatas[a]=b'],
  ['&&'],
  ['include[]=x&stream=true'],
  ['limit=100&limit=0'],
])('%s changes nothing', async (query) => {
  expect(await namesListed(query)).toEqual(names)
})

import { describe, expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { type ListBody, storeCompletion, storedPath } from '../../support/stored-completions.ts'
import { startOnce } from '../../support/start-once.ts'

type Message = { readonly id: string }

const call = { id: 'call_1', type: 'function', function: { name: 'height', arguments: '{}' } }
const parts = [
  { type: 'text', text: 'How high?', note: 1 },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
]
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: parts, name: 'ann', mood: 'calm' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: '4' },
  { role: 'assistant' },
]

async function page({ app }: Scenario, id: string, query = ''): Promise<ListBody<Message>> {
  return (await (await app.request(`${storedPath}/${id}/messages?${query}`)).json()) as ListBody<Message>
}

test('the messages of a stored completion are those of its request, each with its position at the end of its id', async () => {
  await using scenario = await startScenario(jsonReply())
  const { id } = await storeCompletion(scenario.app, { messages, tools: [] })
  expect<unknown>(await page(scenario, id)).toEqual({
    object: 'list',
    data: [
      { id: `${id}-0`, role: 'system', content: 'Be brief.' },
      { id: `${id}-1`, role: 'user', content: parts, name: 'ann' },
      { id: `${id}-2`, role: 'assistant', content: null, tool_calls: [call] },
      { id: `${id}-3`, role: 'tool', tool_call_id: 'call_1', content: '4' },
      { id: `${id}-4`, role: 'assistant', content: null },
    ],
    first_id: `${id}-0`,
    last_id: `${id}-4`,
    has_more: false,
  })
})

describe('a page of stored messages', () => {
  const many = Array.from({ length: 25 }, (_, index) => ({ role: 'user', content: `Say ${index}.` }))
  const places = (query: string, expected: readonly number[], more: boolean) => ({ query, expected, more })
  const upTo = (first: number, last: number) =>
    Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => first + Math.sign(last - first) * index)

  const withMany = startOnce(async () => {
    const scenario = await startScenario(jsonReply())
    const { id } = await storeCompletion(scenario.app, { messages: many })
    return { ...scenario, id }
  })

  test.each([
    places('', upTo(0, 19), true),
    places('after=ID-19', upTo(20, 24), false),
    places('after=ID-24', [], false),
    places('after=ID-99999999', [], false),
    places('limit=25', upTo(0, 24), false),
    places('limit=24', upTo(0, 23), true),
    places('order=asc&limit=1&after=ID-0', [1], true),
    places('order=desc', upTo(24, 5), true),
    places('order=desc&after=ID-5', upTo(4, 0), false),
    places('order=desc&after=ID-0', [], false),
    places('order=desc&limit=2&after=ID-99999999', [24, 23], true),
  ])('is selected by the query $query', async ({ query, expected, more }) => {
    const { id, ...scenario } = await withMany()
    const { data, first_id, last_id, has_more } = await page(scenario, id, query.replace('ID', id))
    const ids = expected.map((place) => `${id}-${place}`)
    expect(data.map((message) => message.id)).toEqual(ids)
    expect([first_id, last_id, has_more]).toEqual([ids[0] ?? null, ids.at(-1) ?? null, more])
  })

  test.each([
    ['after=x', 'after', 'invalid_value'],
    ['after=', 'after', 'invalid_value'],
    ['after=ID', 'after', 'invalid_value'],
    ['after=ID-', 'after', 'invalid_value'],
    ['after=ID-01', 'after', 'invalid_value'],
    ['after=ID--1', 'after', 'invalid_value'],
    ['after=chatcmpl-1-1', 'after', 'invalid_value'],
    ['limit=0', 'limit', 'integer_below_min_value'],
    ['limit=101', 'limit', 'integer_above_max_value'],
    ['limit=all', 'limit', 'invalid_type'],
    ['order=up', 'order', 'invalid_value'],
  ])('is rejected for %s', async (query, param, code) => {
    const { app, id } = await withMany()
    const reply = await app.request(`${storedPath}/${id}/messages?${query.replace('ID', id)}`)
    expect(await readError(reply)).toMatchObject({ status: 400, param, code })
  })
})

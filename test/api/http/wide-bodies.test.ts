import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ChatCompletion } from '../../../src/api/chat-completions/reply-schema.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { postResponse, createResponse } from '../../support/responses.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import {
  listCompletionIds,
  retrieveCompletion,
  storeCompletion,
  storedPath,
} from '../../support/stored-completions.ts'

const deadline = 120_000

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario(jsonReply(), { settings: { max_body: 64 * 1024 * 1024 } })
})
afterAll(() => scenario[Symbol.asyncDispose]())

function wide(count: number, value: unknown = 1): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, value]))
}

const path = '/v1/chat/completions'
const [hello] = chatRequest.messages

describe('a body with an object of a million keys is a 400 that names', () => {
  const million = wide(1_000_000)
  const tool = { name: 'f', parameters: { type: 'object', properties: million } }
  test.each([
    ['logit_bias', { logit_bias: million }],
    ['messages[1]', { messages: [hello, { ...hello, ...million }] }],
    [
      'messages[0].content[0]',
      { messages: [{ ...hello, content: [{ type: 'text', text: 'a', ...million }] }] },
    ],
    ['tools[0].function.parameters.properties', { tools: [{ type: 'function', function: tool }] }],
    ['metadata', { metadata: million }],
    ['trace.metadata', { trace: { id: 'a', metadata: million } }],
    ['a.b', { a: { b: million } }],
    [null, million],
  ])(
    '%s',
    async (param, body) => {
      const error = await readError(await scenario.app.chat({ ...chatRequest, ...body }))
      expect(error).toMatchObject({ status: 400, param, code: 'object_above_max_properties' })
      expect(error.message).toContain('At most 16384 are allowed')
      expect(scenario.acme.requests).toHaveLength(0)
    },
    deadline,
  )

  test(
    'the item of a response input',
    async () => {
      const response = await postResponse(scenario.app, { input: [{ ...hello, ...million }] })
      expect(await readError(response)).toMatchObject({ status: 400, param: 'input[0]' })
    },
    deadline,
  )
})

describe('an object of thousands of keys', () => {
  test('that violates its schema is rejected immediately for the offending key', async () => {
    const logit_bias = { ...wide(10_000), last: 'much' }
    const error = await readError(await scenario.app.chat({ ...chatRequest, logit_bias }))
    expect(error).toMatchObject({ status: 400, param: 'logit_bias.last', code: 'invalid_type' })
  })

  test('is forwarded where the provider has a field for it', async () => {
    await using scenario = await startScenario(jsonReply())
    const logit_bias = JSON.parse(
      JSON.stringify(wide(10_000)).replace('{', '{"__proto__":5,"constructor":6,'),
    )
    expect((await scenario.app.chat({ ...chatRequest, logit_bias })).status).toBe(200)
    const { body } = await scenario.acme.request(0)
    expect(JSON.stringify(body)).toContain('"__proto__":5,"constructor":6,"key_0":1')
  })
})

describe('metadata', () => {
  const max = wide(512)
  const long = { note: 'a'.repeat(64 * 1024 - '{"note":""}'.length) }
  const broken: readonly (readonly [object, string])[] = [
    [wide(513), 'object_above_max_properties'],
    [{ note: `${long.note}a` }, 'object_too_large'],
    [{ deep: [{ note: [long.note] }] }, 'object_too_large'],
    [{ note: '水'.repeat(22_000) }, 'object_too_large'],
  ]

  test.each(broken)('that is too large is a 400 that names it, wherever it is', async (metadata, code) => {
    const { app } = scenario
    const refused = { status: 400, code }
    expect(await readError(await app.chat({ ...chatRequest, metadata }))).toMatchObject({
      ...refused,
      param: 'metadata',
    })
    const trace = { id: 'a', metadata }
    expect(await readError(await app.chat({ ...chatRequest, trace }))).toMatchObject({
      ...refused,
      param: 'trace.metadata',
    })
    expect(await readError(await postResponse(app, { metadata }))).toMatchObject({
      ...refused,
      param: 'metadata',
    })
    expect(await readError(await postResponse(app, { trace }))).toMatchObject({
      ...refused,
      param: 'trace.metadata',
    })
    const update = await app.request(`${path}/chatcmpl-1`, { body: { metadata } })
    expect(await readError(update)).toMatchObject({ ...refused, param: 'metadata' })
    expect(scenario.acme.requests).toHaveLength(0)
  })

  test.each([[max], [long]])('of the maximum size is stored', async (metadata) => {
    await using scenario = await startScenario(jsonReply())
    const { id } = await storeCompletion(scenario.app, { metadata })
    expect(await retrieveCompletion(scenario.app, id)).toMatchObject({ metadata })
    const update = await scenario.app.request(`${storedPath}/${id}`, { body: { metadata } })
    expect(((await update.json()) as ChatCompletion).metadata).toEqual({ ...metadata })
    expect((await createResponse(scenario.app, { metadata, trace: { id: 'a', metadata } })).metadata).toEqual(
      {
        ...metadata,
      },
    )
  })

  test('with keys that every object has is stored and found like any other', async () => {
    await using scenario = await startScenario(jsonReply())
    const metadata = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}')
    const { id } = await storeCompletion(scenario.app, { metadata })
    const stored = await scenario.app.request(`${storedPath}/${id}`)
    expect(await stored.text()).toContain('"metadata":{"__proto__":"a","constructor":"b","toString":"c"}')
    for (const pair of ['metadata[__proto__]=a', 'metadata[constructor]=b', 'metadata[toString]=c'])
      expect(await listCompletionIds(scenario.app, pair)).toEqual([id])
    expect(await listCompletionIds(scenario.app, 'metadata[valueOf]=a')).toEqual([])
  })
})

describe('an item reference', () => {
  test(
    'counts as often as it occurs',
    async () => {
      await using scenario = await startScenario(jsonReply(), { settings: { max_body: 64 * 1024 * 1024 } })
      const { app, acme } = scenario
      const long = { role: 'user', content: 'a'.repeat(1024 * 1024) }
      const { id } = await createResponse(app, { input: [long] })
      const listed = await app.request(`/v1/responses/${id}/input_items`)
      const [item] = ((await listed.json()) as { data: { id: string }[] }).data
      const times = (count: number) =>
        Array.from({ length: count }, () => ({ type: 'item_reference', id: item?.id }))
      const tooLong = await readError(await postResponse(app, { input: times(64) }))
      expect(tooLong).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'input' })
      const tooMany = await readError(await postResponse(app, { input: times(10_001) }))
      expect(tooMany).toMatchObject({ status: 400, code: 'array_above_max_length', param: 'input' })
      expect(acme.requests).toHaveLength(1)
      expect((await postResponse(app, { input: times(3) })).status).toBe(200)
    },
    deadline,
  )
})

test(
  'a schema that is recursive everywhere gets a short answer from the built-in model',
  async () => {
    await using scenario = await startScenario(jsonReply(), {
      settings: { providers: { inside: { kind: 'echo' } } },
      models: [{ slug: 'inside/echo', routes: [{ provider: 'inside', model: 'echo' }] }],
    })
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`a${index}`, { $ref: '#' }]),
    )
    const schema = { type: 'object', properties: { text: { type: 'string' }, ...properties } }
    const response_format = { type: 'json_schema', json_schema: { name: 'tree', schema } }
    const reply = await scenario.app.chat({ ...chatRequest, model: 'inside/echo', response_format })
    const { choices } = (await reply.json()) as ChatCompletion
    expect(JSON.parse(choices[0]?.message.content ?? '')).toMatchObject({ text: hello?.content })
  },
  deadline,
)

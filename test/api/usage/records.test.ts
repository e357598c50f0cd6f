import { describe, expect, test } from 'bun:test'
import { timeOf } from '../../../src/lib/id.ts'
import type { UsageRow } from '../../support/billing-database.ts'
import {
  type BillingScenario,
  type BillingScenarioOptions,
  promptCost,
  startBillingScenario,
  replyCost,
} from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { firstKey, type RequestOptions } from '../../support/app.ts'
import { chatRequest } from '../../support/scenario.ts'
import { breakOff, hang, json, type Script, silence } from '../../support/script.ts'

const labels = { user: 'ada', tags: ['spring', 'flood'], trace: { id: 't1', name: 'é' } }
const labelled = { ...chatRequest, ...labels }
const keptLabels = {
  user: 'ada',
  tags: '["spring","flood"]',
  trace: '{"id":"t1","name":"é"}',
}
const noTokens = {
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  estimated: 0,
}

/** Asks and gives the row of the request, which must be there as soon as the reply is. */
async function rowOf(
  { app, billing }: BillingScenario,
  body: object,
  options?: RequestOptions,
): Promise<UsageRow> {
  const reply = await app.chat(body, options)
  await reply.text()
  const row = await billing.usageOf(reply.headers.get('x-request-id') ?? '')
  if (row === undefined) throw new Error(`There is no row of this ${reply.status}.`)
  expect((await billing.usage()).filter(({ id }) => id === row.id)).toHaveLength(1)
  // Two that enter the same request must agree on it: it is part of the key of the row.
  expect(row.created_at).toBe(timeOf(row.id))
  return row
}

const requested = { api: 'chat', model: 'acme/river', key_id: firstKey.split('-')[2] ?? '', ...keptLabels }

describe.each([
  ['not streamed', false],
  ['streamed', true],
])('the usage row of a request (%s)', (_, stream) => {
  test('is written with its reply and has all of its fields', async () => {
    const usage = {
      prompt_tokens: 50,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 7 },
    }
    await using paid = await startBillingScenario(
      stream ? streamReply(chatOutput({}, { usage })) : jsonReply(chatOutput({}, { usage })),
    )
    const before = Date.now()
    const row = await rowOf(paid, { ...labelled, stream })
    expect(row).toMatchObject({
      ...requested,
      ...noTokens,
      prompt_tokens: 50,
      completion_tokens: 20,
      cached_tokens: 30,
      reasoning_tokens: 7,
      provider: 'acme',
      upstream_model: 'river-1',
      stream: Number(stream),
      cost: 50 * 1000 + 20 * 10_000,
      status: 200,
      error: null,
      performance_mode: null,
    })
    expect(row.created_at).toBeWithin(before, Date.now() + 1)
    if (stream) expect(row.first_token_ms).toBeWithin(0, Number(row.latency_ms) + 1)
    else expect(row.first_token_ms).toBeNull()
  })

  test('has the requested performance mode', async () => {
    const price = { input: 1, output: 10 }
    const fast = { strategy: 'service_tier', service_tier: 'priority', pricing: price } as const
    await using paid = await startBillingScenario(stream ? streamReply() : jsonReply(), { model: { fast } })
    expect(await rowOf(paid, { ...chatRequest, performance_mode: 'fast', stream })).toMatchObject({
      performance_mode: 'fast',
      user: null,
      tags: null,
      trace: null,
    })
  })
})

type Refusal = {
  readonly of: string
  readonly script?: Script
  readonly options?: BillingScenarioOptions
  readonly body?: object
  readonly row: object
}

const provided = { provider: 'acme', upstream_model: 'river-1' }
const unprovided = { provider: null, upstream_model: null }

const refusals: readonly Refusal[] = [
  {
    of: 'that the model cannot take',
    options: { model: { supported_parameters: ['max_tokens'] } },
    body: { temperature: 0.5 },
    row: { ...unprovided, status: 400, error: 'unsupported_parameter' },
  },
  {
    of: 'to a model that does not exist',
    body: { model: 'acme/sea' },
    row: { ...unprovided, status: 404, error: 'model_not_found', model: null },
  },
  {
    of: 'that the balance does not reach',
    options: { balance: '0' },
    row: { ...unprovided, status: 402, error: 'insufficient_balance' },
  },
  {
    of: 'beyond the tokens of a minute',
    options: { settings: { limits: { tokens_per_minute: 1 } }, clock: () => 0 },
    body: { messages: [{ role: 'user', content: 'x'.repeat(100) }] },
    row: { ...unprovided, status: 429, error: 'rate_limit_exceeded' },
  },
  {
    of: 'to a provider that is down',
    script: json({ error: { message: 'Down.' } }, { status: 503 }),
    row: { ...provided, status: 502, error: 'upstream_unavailable' },
  },
  {
    of: 'to a provider that refuses it',
    script: json({ error: { message: 'No.' } }, { status: 400 }),
    row: { ...provided, status: 400, error: 'upstream_rejected' },
  },
  {
    of: 'to a provider without a key',
    options: { model: { enabled: true }, acme: { kind: 'openai', api_key: undefined, base_url: undefined } },
    row: { ...unprovided, status: 502, error: 'provider_key_missing' },
  },
]

describe('a usage row is written with the reply to a request', () => {
  test.each(refusals.map((refusal) => [refusal.of, refusal] as const))('%s', async (_, refusal) => {
    await using paid = await startBillingScenario(refusal.script ?? jsonReply(), refusal.options)
    // The first takes what there is of the limits; no other refusal minds it.
    if (refusal.options?.clock) await (await paid.app.chat(chatRequest)).text()
    const row = await rowOf(paid, { ...labelled, ...refusal.body })
    expect(row).toMatchObject({ ...requested, ...noTokens, first_token_ms: null, ...refusal.row })
    expect(row.cost ?? 0).toBe(0)
  })
})

test('a stream that breaks has a usage row with its last frame', async () => {
  const received = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(
    chunks([delta({ content: 'eight ch' }), received.promise], breakOff),
  )
  const reply = await paid.app.chat({ ...labelled, stream: true })
  received.resolve()
  expect(await reply.text()).toContain('"upstream_unavailable"')
  expect(await paid.billing.usage()).toEqual([
    expect.objectContaining({
      ...requested,
      ...noTokens,
      ...provided,
      prompt_tokens: 8,
      completion_tokens: 2,
      estimated: 1,
      status: 502,
      error: 'upstream_unavailable',
      cost: promptCost + 2 * 10_000,
      first_token_ms: expect.any(Number),
    }),
  ])
})

test.each([
  ['before its answer', silence, { completion_tokens: 0, first_token_ms: null }],
  [
    'in the middle of a stream',
    chunks([delta({ content: 'eight ch' })], hang),
    // More, where time went by in which nothing was seen.
    { completion_tokens: expect.any(Number), first_token_ms: expect.any(Number) },
  ],
])('a client that disconnects %s has a usage row', async (_, script, more) => {
  await using paid = await startBillingScenario(script)
  const aborting = new AbortController()
  const requesting = paid.app.chat({ ...labelled, stream: true }, { signal: aborting.signal })
  requesting.catch(() => {})
  await paid.acme.request(0)
  if (script !== silence) await readPieces(await requesting).until('eight ch')
  aborting.abort()
  expect(await paid.billing.waitForUsage(1)).toEqual([
    expect.objectContaining({
      ...requested,
      ...provided,
      prompt_tokens: 22,
      estimated: 1,
      status: 499,
      ...more,
    }),
  ])
})

test('the provider of the usage row is the one that was called last', async () => {
  const down = json({ error: { message: 'Down.' } }, { status: 503 })
  await using paid = await startBillingScenario(down, { other: [jsonReply()] })
  expect(await rowOf(paid, chatRequest)).toMatchObject({ provider: 'other', upstream_model: 'river-2' })
})

test('every request has its own usage row, also when many run concurrently', async () => {
  await using paid = await startBillingScenario(jsonReply(), { balance: '100' })
  const ids = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const reply = await paid.app.chat(chatRequest)
      const id = reply.headers.get('x-request-id') ?? ''
      expect(await paid.billing.usageOf(id)).toMatchObject({ status: 200, cost: replyCost })
      return id
    }),
  )
  expect((await paid.billing.usage()).map(({ id }) => id)).toEqual(ids.toSorted())
  expect(await paid.billing.account()).toEqual([100e9 - 200 * replyCost, 0])
})

test('the model list and unauthenticated requests have no usage row', async () => {
  await using paid = await startBillingScenario(jsonReply())
  await paid.app.request('/v1/models')
  await paid.app.chat(chatRequest, { headers: { authorization: null } })
  await paid.app.request('/v1/nowhere')
  expect(await paid.billing.usage()).toEqual([])
})

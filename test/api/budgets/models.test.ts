import { describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import { firstChunks, queueRun } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { chunks, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { retrieveResponse } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { type LimitedKey, startBudgets } from './support/budget-scenario.ts'

const chat = '/v1/chat/completions'
const routes = [{ provider: 'acme', model: 'river-1' }]
const models: readonly ModelDetails[] = [
  { slug: 'globex/lake', aliases: ['lake-latest'], routes, pricing },
  { slug: 'globex/lake-fast', routes, pricing, variant_of: 'globex/sea' },
  {
    slug: 'globex/sea',
    routes,
    pricing,
    fast: { strategy: 'model_variant', target_slug: 'globex/lake-fast', pricing },
  },
]

/** The status for a chat completion of each model. */
async function statuses(key: LimitedKey, ...names: readonly string[]): Promise<readonly number[]> {
  const replies = names.map((model) => key.post(chat, { ...chatRequest, model }))
  return (await Promise.all(replies)).map(({ status }) => status)
}

/** The ids of the models that a key is told, in both forms. */
async function listed(key: LimitedKey): Promise<readonly string[]> {
  const ids = await idsOf(key.get('/v1/models'))
  const paged = await idsOf(key.get('/v1/models?limit=1000', { 'anthropic-version': '2023-06-01' }))
  expect(paged).toEqual(ids as string[])
  return ids
}

async function idsOf(reply: Promise<Response>): Promise<readonly string[]> {
  const { data } = (await (await reply).json()) as { readonly data: readonly { readonly id: string }[] }
  return data.map(({ id }) => id)
}

describe('the models of a key', () => {
  test.each([
    [['acme/river'], ['acme/river']],
    [['river'], ['acme/river']],
    [['lake-latest'], ['globex/lake']],
    [['globex/*'], ['globex/lake', 'globex/lake-fast', 'globex/sea']],
    [['*/lake*'], ['globex/lake', 'globex/lake-fast']],
    [['*/*a*e*'], ['globex/lake', 'globex/lake-fast']],
    [['globex/lake*e', 'glo*x/s*ea'], ['globex/sea']],
    [['nothing/else', 'acme/riv*'], ['acme/river']],
    [[], []],
  ])('%j allow and list only %j', async (list, allowed) => {
    await using scenario = await startBudgets(jsonReply(), { models })
    const key = await scenario.keyWith({ models: list })
    expect((await listed(key)).filter((id) => !id.startsWith('weir/'))).toEqual(allowed)
    const all = ['acme/river', 'globex/lake', 'globex/lake-fast', 'globex/sea']
    expect(await statuses(key, ...all)).toEqual(all.map((slug) => (allowed.includes(slug) ? 200 : 403)))
    for (const slug of all) {
      const { status } = await key.get(`/v1/models/${slug}`)
      expect([slug, status]).toEqual([slug, allowed.includes(slug) ? 200 : 403])
    }
    const own = (await (await key.get('/v1/organization')).json()) as { readonly models: readonly string[] }
    expect(own.models.filter((id) => !id.startsWith('weir/'))).toEqual(allowed)
  })

  test('count by any name of a model, and an unknown name is still unknown', async () => {
    await using scenario = await startBudgets(jsonReply(), { models })
    const key = await scenario.keyWith({ models: ['globex/lake'] })
    expect(await statuses(key, 'globex/lake', 'lake', 'lake-latest')).toEqual([200, 200, 200])
    expect(await statuses(key, 'river', 'sea', 'globex/ocean')).toEqual([403, 403, 404])
    const { message } = await readError(await key.post(chat, { ...chatRequest, model: 'acme/rivers' }))
    expect(message).not.toContain('acme/river ')
    expect(await readError(await key.post(chat, chatRequest))).toMatchObject({
      type: 'permission_error',
      code: 'model_not_allowed',
      param: 'model',
      message:
        'This API key may not use the model acme/river. GET /v1/models lists the models that it may use.',
    })
  })

  test('must have the variant that serves the fast mode', async () => {
    await using scenario = await startBudgets(jsonReply(), { models })
    const fast = { ...chatRequest, model: 'globex/sea', performance_mode: 'fast' }
    const slow = await scenario.keyWith({ models: ['globex/sea'] })
    expect(await readError(await slow.post(chat, fast))).toMatchObject({
      status: 403,
      code: 'model_not_allowed',
      message: expect.stringContaining('globex/lake-fast'),
    })
    expect(await statuses(slow, 'globex/sea')).toEqual([200])
    const both = await scenario.keyWith({ models: ['globex/*'] })
    expect((await both.post(chat, fast)).status).toBe(200)
  })

  test('must be in the lists of its organization and its project, too', async () => {
    await using scenario = await startBudgets(jsonReply(), { models })
    const { organizations, projects } = scenario.billing
    // Each list excludes a model that the two others have.
    await organizations.change('default', { models: ['globex/lake', 'globex/sea', 'acme/*'] })
    const limits = { models: ['*/lake*', '*/river'] }
    const project = await projects.create({ organization: 'default', name: 'p', ...limits })
    const key = await scenario.keyWith({ project: project.id, models: ['globex/*'] })
    expect(await listed(key)).toEqual(['globex/lake'])
    const names = ['globex/lake', 'globex/lake-fast', 'globex/sea', 'acme/river']
    expect(await statuses(key, ...names)).toEqual([200, 403, 403, 403])
  })
})

test('a background run fails if its model was disallowed while it was queued', async () => {
  await using scenario = await startBudgets(chunks(firstChunks, hang), {
    settings: { limits: { concurrent_requests: 1 } },
  })
  const { app, billing } = scenario
  const key = await scenario.keyWith()
  const first = await queueRun(app, {}, { headers: key.headers })
  await scenario.acme.request(0)
  const second = await queueRun(app, {}, { headers: key.headers })
  await billing.keys.change(key.id, { models: [] })
  await waitUntil(async () => (await idsOf(key.get('/v1/models'))).length === 0, 'the change is known')
  await app.request(`/v1/responses/${first.id}/cancel`, { method: 'POST', headers: key.headers })
  await waitUntil(async () => {
    const { status } = await retrieveResponse(app, second.id)
    return status !== 'queued' && status !== 'in_progress'
  }, 'the run has ended')
  const { status, error } = await retrieveResponse(app, second.id)
  expect([status, error?.message]).toEqual([
    'failed',
    expect.stringContaining('may not use the model acme/river'),
  ])
  expect(scenario.acme.requests).toHaveLength(1)
  expect(await billing.openReservations()).toBe(0)
})

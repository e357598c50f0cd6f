import { describe, expect, test } from 'bun:test'
import { parseUsd } from '../../../src/lib/usd.ts'
import type { KeyInput, Keys } from '../../../src/storage/ports/accounts.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { adminLines } from '../support/admin.ts'

const path = '/v1/organization/keys'
const run = { name: 'run 7', budget_usd: '0.25', expires_in: '2h' }

type Body = Readonly<Record<string, unknown>>

/** A gateway with a key that may create keys out of a budget of one dollar. */
async function startMinting(properties: Partial<KeyInput> = {}) {
  const paid = await startBillingScenario(jsonReply())
  const parent = await createParent(paid, properties)
  return { ...paid, ...parent }
}

async function createParent({ app, billing }: BillingScenario, properties: Partial<KeyInput>) {
  const { record, key } = await billing.keys.create({
    organization: 'default',
    name: 'launcher',
    expiresAt: null,
    permissions: ['mint'],
    budget: 1_000_000_000n,
    ...properties,
  })
  const send = senderOf(app, key.reveal())
  return {
    parent: record.id,
    send,
    mint: (body: object = {}) => send('POST', '', { ...run, ...body }),
    /** What is left of the budget of the key, and what others have taken of it, in nano-dollars. */
    async allocated() {
      const [row = []] = await billing.values(
        'SELECT allocated, spent FROM budgets WHERE owner_id = ?',
        record.id,
      )
      return row.map(Number)
    },
  }
}

/** Sends requests with a key, and reads their replies. */
function senderOf(app: BillingScenario['app'], key: string) {
  const headers = { authorization: `Bearer ${key}` }
  return async (method: string, below: string, body?: object) => {
    const reply = await app.request(path + below, { method, headers, ...(body && { body }) })
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Body }
  }
}

describe('a key with the permission mint', () => {
  test('creates a key whose budget is taken from its own, and shows the secret once', async () => {
    await using minting = await startMinting()
    const { app, parent, send } = minting
    const { status, body } = await minting.mint({
      models: ['acme/river'],
      tags: ['nightly'],
      note: 'of a run',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'api_key',
      name: 'run 7',
      parent,
      budget_usd: '0.25',
      budget: { limit_usd: '0.25', left_usd: '0.25', resets_at: null },
      models: ['acme/river'],
      tags: ['nightly'],
      note: 'of a run',
      permissions: [],
    })
    expect(Date.parse(String(body.expires_at))).toBeGreaterThan(Date.now())
    expect(await minting.allocated()).toEqual([Number(parseUsd('0.25')), 0])
    const { key, ...shown } = body
    const authorization = `Bearer ${String(key)}`
    expect((await app.chat(chatRequest, { headers: { authorization } })).status).toBe(200)
    const list = await send('GET', '')
    expect(list.body).toMatchObject({ object: 'list', data: [{ id: shown.id }], has_more: false })
    const secret = String(key).split('-').at(-1) ?? ''
    expect([JSON.stringify(list.body), ...app.lines].join()).not.toContain(secret)
    expect(adminLines(app)).toEqual([
      {
        admin: 'key.mint',
        by: parent,
        organization: 'default',
        key: shown.id,
        name: 'run 7',
        budget: '0.25',
      },
    ])
  })

  test('gets back what is left once it revokes the key', async () => {
    await using minting = await startMinting()
    const { app, send, billing } = minting
    const { body } = await minting.mint()
    const id = String(body.id)
    await billing.values(
      `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
       SELECT public_id, 0, organization_id, 1000, 0, 0, 0 FROM api_keys WHERE public_id = ?`,
      id,
    )
    expect((await send('GET', `/${id}`)).body).toMatchObject({ budget: { spent_usd: '0.000001' } })
    const revoked = await send('DELETE', `/${id}`)
    expect(revoked).toMatchObject({ status: 200, body: { id, revoked_at: expect.any(String) } })
    expect(await minting.allocated()).toEqual([0, 1000])
    const authorization = `Bearer ${String(body.key)}`
    expect((await app.request('/v1/models', { headers: { authorization } })).status).toBe(401)
  })

  test('cannot give away more than is left, also with many requests at once', async () => {
    await using minting = await startMinting()
    const replies = await Promise.all(Array.from({ length: 12 }, () => minting.mint({ budget_usd: '0.3' })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([
      ...Array(3).fill(200),
      ...Array(9).fill(402),
    ])
    const rejected = replies.find(({ status }) => status === 402)
    expect(rejected?.body).toEqual({
      error: {
        message:
          'A budget of 0.30 USD is more than the 0.10 USD that are left of the budget of this API key.',
        type: 'insufficient_quota',
        param: null,
        code: 'budget_exceeded',
      },
    })
    expect(rejected?.headers.get('x-should-retry')).toBe('false')
    expect((await minting.mint({ budget_usd: '0.1' })).status).toBe(200)
    expect(await minting.allocated()).toEqual([1_000_000_000, 0])
  })

  test('gives only models that it may use itself', async () => {
    await using minting = await startMinting({ models: ['acme/*', 'anthropic/claude-haiku-4-5'] })
    const mintWith = async (models: readonly string[] | null) => {
      const { status, body } = await minting.mint({ models, budget_usd: '0.01' })
      return [status, (body as { readonly error?: { readonly param: string } }).error?.param]
    }
    for (const models of [['acme/river'], ['acme/*', 'acme/r*'], ['anthropic/claude-haiku-4-5'], [], null])
      expect([models, ...(await mintWith(models))]).toEqual([models, 200, undefined])
    for (const entry of ['*', 'openai/gpt-5', 'anthropic/*', 'acme', '*/river'])
      expect([entry, ...(await mintWith(['acme/river', entry]))]).toEqual([entry, 400, 'models[1]'])
  })

  test('gives a list with at most 100 patterns, which are compared with each of its own', async () => {
    await using minting = await startMinting({ models: ['acme/*'] })
    const patterns = Array.from({ length: 100 }, (_, index) => `acme/${index}*`)
    const models = [...patterns, 'acme/river', 'acme/lake']
    expect(await minting.mint({ models })).toMatchObject({ status: 200, body: { models } })
    const reply = await minting.mint({ models: [...models, 'acme/*'] })
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'models' } } })
  })

  test('sees and revokes its own keys only', async () => {
    await using minting = await startMinting()
    const other = await createParent(minting, { name: 'another launcher' })
    const { body } = await minting.mint()
    const id = String(body.id)
    expect((await other.send('GET', '')).body).toMatchObject({ data: [] })
    for (const [method, below] of [
      ['GET', `/${id}`],
      ['DELETE', `/${id}`],
      ['DELETE', `/${minting.parent}`],
    ] as const)
      expect((await other.send(method, below)).status).toBe(404)
    expect((await other.send('GET', `?after=${id}`)).status).toBe(400)
    expect((await minting.send('GET', `/${id}`)).body).toMatchObject({ revoked_at: null })
  })

  test('has at most a thousand keys that are open', async () => {
    await using minting = await startMinting()
    const { body } = await minting.mint({ budget_usd: '0.01' })
    await minting.billing.values(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
       INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at, parent_id)
       SELECT 'copy' || n, organization_id, name, secret_hash, last4, created_at, parent_id
       FROM api_keys, numbers WHERE public_id = ?`,
      String(body.id),
    )
    const rejected = await minting.mint({ budget_usd: '0.01' })
    expect([rejected.status, JSON.stringify(rejected.body)]).toEqual([400, expect.stringContaining('1000')])
    await minting.send('DELETE', '/copy7')
    expect((await minting.mint({ budget_usd: '0.01' })).status).toBe(200)
  })

  test.each([
    ['is revoked', 401, (keys: Keys, id: string) => keys.revoke(id)],
    ['expires', 401, (keys: Keys, id: string) => keys.change(id, { expiresAt: 1 })],
    ['is disabled', 403, (keys: Keys, id: string) => keys.change(id, { enabled: false })],
  ])('ends the keys that it has created when it %s', async (_, status, change) => {
    await using minting = await startMinting()
    const { app, billing } = minting
    const { body } = await minting.mint()
    const headers = { authorization: `Bearer ${String(body.key)}` }
    expect((await app.request('/v1/models', { headers })).status).toBe(200)
    await change(billing.keys, minting.parent)
    const hasEnded = async () => (await app.request('/v1/models', { headers })).status === status
    await waitUntil(hasEnded, 'the key has ended with the one that created it')
    expect((await app.chat(chatRequest, { headers })).status).toBe(status)
    expect(minting.acme.requests).toEqual([])
  })
})

test.each([
  ['without a budget', { budget_usd: undefined }, 'budget_usd'],
  ['with a negative budget', { budget_usd: '-1' }, 'budget_usd'],
  ['without an expiry', { expires_in: undefined }, 'expires_in'],
  ['that never expires', { expires_in: undefined, expires_at: null }, 'expires_in'],
  ['with two expiries', { expires_at: '2099-01-01T00:00:00Z' }, 'expires_at'],
  ['that has expired', { expires_in: undefined, expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
  ['with permissions', { permissions: ['mint'] }, 'permissions'],
  ['with a period', { budget_period: 'day' }, 'budget_period'],
  ['without a name', { name: undefined }, 'name'],
])('a key %s is not created', async (_, body, param) => {
  await using minting = await startMinting()
  const reply = await minting.mint(body)
  expect(reply).toMatchObject({ status: 400, body: { error: { param } } })
  expect(await minting.allocated()).toEqual([])
})

test('a key without the permission, and one that another key created, cannot create keys', async () => {
  await using minting = await startMinting()
  const { app, billing } = minting
  const plain = await createParent(minting, { permissions: ['admin'] })
  const forbidden = { error: { type: 'permission_error', code: 'permission_required' } }
  expect(await plain.mint()).toMatchObject({ status: 403, body: forbidden })
  const { body } = await minting.mint()
  const child = senderOf(app, String(body.key))
  expect(await child('POST', '', run)).toMatchObject({ status: 403, body: forbidden })
  await billing.keys.change(String(body.id), { permissions: ['mint'] })
  const promoted = await createParent(minting, {})
  await billing.values(
    'UPDATE api_keys SET parent_id = ? WHERE public_id = ?',
    minting.parent,
    promoted.parent,
  )
  expect((await promoted.mint()).status).toBe(400)
})

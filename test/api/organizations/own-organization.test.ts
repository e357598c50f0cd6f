import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { requestAdmin, startAdmin, adminKey } from '../support/admin.ts'

const path = '/v1/organization'

test('the organization of a key has its exact balance, its limits and what is left of them', async () => {
  const limits = { requests_per_minute: 600, tokens_per_minute: 9000, concurrent_requests: 7 }
  await using paid = await startAdmin(jsonReply(), {
    balance: '12.345678901',
    settings: { limits },
    clock: () => 0,
  })
  await (await paid.app.chat(chatRequest)).arrayBuffer()
  await paid.billing.waitForUsage(1)
  const reply = await paid.app.request(path)
  expect(reply.status).toBe(200)
  expect(await reply.json()).toEqual({
    object: 'organization',
    id: expect.stringMatching(/^org_/),
    name: 'default',
    api_key_id: 'Test00000000',
    billing: 'prepaid',
    balance_usd: '12.345616901',
    reserved_usd: '0.00',
    available_usd: '12.345616901',
    limits,
    remaining: { requests: 598, tokens: 9000 - 17 },
    reset_ms: { requests: 200, tokens: expect.any(Number) },
    budgets: [],
    project: null,
    models: null,
    permissions: [],
    content_log: false,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  expect(reply.headers.get('x-ratelimit-remaining-requests')).toBe('598')
})

test('money that an open request has reserved is in the balance, and not available', async () => {
  await using paid = await startAdmin()
  await paid.billing.values('UPDATE organizations SET reserved = 250000000')
  expect(await (await paid.app.request(path)).json()).toMatchObject({
    balance_usd: '1.00',
    reserved_usd: '0.25',
    available_usd: '0.75',
  })
})

test('each key sees its own organization only, whatever the request asks for', async () => {
  await using paid = await startAdmin()
  await paid.billing.fund('globex', '3', 'unmetered')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('globex')}` }
  for (const query of ['', '?id=default', '?organization_ids[]=default', '?name=default'])
    expect(await (await paid.app.request(path + query, { headers })).json()).toMatchObject({
      name: 'globex',
      billing: 'unmetered',
      balance_usd: '3.00',
    })
  expect(await (await paid.app.request(`${path}?name=globex`)).json()).toMatchObject({ name: 'default' })
})

test('an organization that is named like the id of another one sees itself', async () => {
  await using paid = await startAdmin()
  const { id } = (await (await paid.app.request(path)).json()) as { readonly id: string }
  await paid.billing.fund(id, '5')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf(id)}` }
  expect(await (await paid.app.request(path, { headers })).json()).toMatchObject({
    name: id,
    balance_usd: '5.00',
  })
  expect(await (await paid.app.request(path)).json()).toMatchObject({ id, name: 'default' })
})

test('a change of the operator is visible at once, and limits of the organization precede those of the settings', async () => {
  await using paid = await startAdmin()
  await paid.app.request(path)
  await requestAdmin(paid.app, 'POST', 'organizations/default', {
    body: { requests_per_minute: 50, concurrent_requests: 2 },
  })
  await requestAdmin(paid.app, 'POST', 'organizations/default/credit', { body: { amount: '0.000000001' } })
  expect(await (await paid.app.request(path)).json()).toMatchObject({
    balance_usd: '1.000000001',
    limits: { requests_per_minute: 50, concurrent_requests: 2 },
  })
})

test('without the key of an organization there is nothing to see', async () => {
  await using paid = await startAdmin()
  for (const authorization of [null, 'Bearer sk-weir-wrong', `Bearer ${adminKey}`])
    expect((await paid.app.request(path, { headers: { authorization } })).status).toBe(401)
  await requestAdmin(paid.app, 'DELETE', 'organizations/default')
  expect((await paid.app.request(path)).status).toBe(403)
})

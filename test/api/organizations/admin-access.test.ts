import { describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { firstKey } from '../../support/app.ts'
import { adminKey, adminLines, requestAdmin, startAdmin } from '../support/admin.ts'
import { startOnce } from '../../support/start-once.ts'

const endpoints = [
  ['GET', 'admin_key'],
  ['GET', 'organizations'],
  ['POST', 'organizations'],
  ['GET', 'organizations/default'],
  ['POST', 'organizations/default'],
  ['DELETE', 'organizations/default'],
  ['POST', 'organizations/default/credit'],
  ['GET', 'keys'],
  ['POST', 'keys'],
  ['PATCH', 'organizations/default'],
  ['POST', 'organizations/default/release_held'],
  ['GET', 'projects'],
  ['POST', 'projects'],
  ['GET', 'projects/proj_1'],
  ['PATCH', 'projects/proj_1'],
  ['DELETE', 'projects/proj_1'],
  ['POST', 'projects/proj_1/release_held'],
  ['GET', 'keys/Test00000000'],
  ['PATCH', 'keys/Test00000000'],
  ['POST', 'keys/Test00000000/release_held'],
  ['POST', 'keys/Test00000000/revoke'],
  ['POST', 'keys/Test00000000/rotate'],
  ['GET', 'providers'],
  ['GET', 'requests'],
  ['GET', 'webhooks'],
  ['POST', 'webhooks/alerts/test'],
  ['POST', 'webhooks/alerts/retry'],
  ['GET', 'webhook_deliveries'],
  ['POST', 'webhook_deliveries/evt_1:alerts/retry'],
] as const

const unchanged = startOnce(startAdmin)
const withoutKey = startOnce(() => startBillingScenario(jsonReply()))

describe.each(endpoints)('%s /admin/%s', (method, path) => {
  test('requires the admin key, before anything is read', async () => {
    const paid = await unchanged()
    for (const authorization of [
      null,
      `Bearer ${firstKey}`,
      `Bearer ${adminKey}0`,
      `Bearer`,
      `Basic ${adminKey}`,
      adminKey,
    ]) {
      const { status, body } = await requestAdmin(paid.app, method, path, { headers: { authorization } })
      expect([authorization, status, body]).toEqual([
        authorization,
        401,
        {
          error: expect.objectContaining({
            code: 'admin_key_required',
            message: expect.stringContaining('run on the machine of the gateway: weir admin-keys create'),
          }),
        },
      ])
    }
    expect((await paid.app.request(`/admin/${path}?key=${adminKey}`, { method })).status).toBe(401)
    expect(adminLines(paid.app)).toEqual([])
    expect((await paid.app.request('/v1/models')).status).toBe(200)
  })

  test('is closed where there is no admin key, and says how to create one', async () => {
    const paid = await withoutKey()
    for (const authorization of [`Bearer ${adminKey}`, 'Bearer ', null]) {
      const { status, body } = await requestAdmin(paid.app, method, path, { headers: { authorization } })
      expect([status, JSON.stringify(body)]).toEqual([401, expect.stringContaining('weir admin-keys create')])
    }
  })
})

const changing = endpoints.filter(([method]) => method !== 'GET')

test.each(changing)('%s /admin/%s is rejected for a page of another origin', async (method, path) => {
  const paid = await unchanged()
  for (const origin of ['https://evil.test', 'null', 'http://127.0.0.1:1', 'not an origin'])
    expect(await requestAdmin(paid.app, method, path, { headers: { origin }, body: {} })).toMatchObject({
      status: 403,
      body: { error: { type: 'invalid_request_error' } },
    })
  expect(adminLines(paid.app)).toEqual([])
})

test('a page of the gateway itself, or of an origin in cors, may change the gateway, and any page may read', async () => {
  const friend = 'https://page.test'
  await using paid = await startAdmin(jsonReply(), { settings: { cors: [friend] } })
  for (const origin of [friend, paid.app.url]) {
    const name = `of ${new URL(origin).hostname}`
    expect(
      (await requestAdmin(paid.app, 'POST', 'organizations', { headers: { origin }, body: { name } })).status,
    ).toBe(200)
  }
  expect(
    (await requestAdmin(paid.app, 'GET', 'organizations', { headers: { origin: 'https://evil.test' } }))
      .status,
  ).toBe(200)
})

test('no secret is in the log or in a list after each kind of change', async () => {
  await using paid = await startAdmin()
  const created = await requestAdmin(paid.app, 'POST', 'keys', {
    body: { organization: 'default', name: 'ci' },
  })
  const rotated = await requestAdmin(paid.app, 'POST', `keys/${String(created.body.id)}/rotate`, { body: {} })
  await requestAdmin(paid.app, 'POST', `keys/${String(rotated.body.id)}/revoke`)
  const listed = JSON.stringify([
    await requestAdmin(paid.app, 'GET', 'keys'),
    await requestAdmin(paid.app, 'GET', 'providers'),
  ])
  const log = [...paid.app.lines, listed].join('\n')
  expect(adminLines(paid.app).length).toBe(3)
  for (const key of [created.body.key, rotated.body.key, firstKey, adminKey, 'sk-provider-'])
    expect(log).not.toContain(String(key).split('-').at(-1) || String(key))
})

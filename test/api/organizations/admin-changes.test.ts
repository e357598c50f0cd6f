import { describe, expect, test } from 'bun:test'
import { command as orgs } from '../../../src/cli/commands/orgs.ts'
import { chatRequest } from '../../support/scenario.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { adminLines, requestAdmin, startAdmin } from '../support/admin.ts'
import { databaseEnvironment } from '../../support/database-connection.ts'
import { startOnce } from '../../support/start-once.ts'

/** The limits of an object that has none. */
const unlimited = {
  budget_usd: null,
  budget_period: 'none',
  budget_time_zone: 'UTC',
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
  models: null,
  enabled: true,
  budget: null,
}

test('organizations are created, listed, changed and credited, and each change is logged', async () => {
  await using paid = await startAdmin()
  const { app } = paid
  const body = { name: 'globex', billing: 'prepaid', requests_per_minute: 7 }
  const created = await requestAdmin(app, 'POST', 'organizations', { body })
  expect(created).toEqual({
    status: 200,
    body: {
      object: 'organization',
      id: expect.stringMatching(/^org_/),
      name: 'globex',
      billing: 'prepaid',
      balance_usd: '0.00',
      reserved_usd: '0.00',
      ...unlimited,
      requests_per_minute: 7,
      created_at: expect.stringMatching(/Z$/),
    },
  })
  const id = String(created.body.id)
  const changed = await requestAdmin(app, 'POST', `organizations/${id}`, {
    body: { requests_per_minute: null, concurrent_requests: 3 },
  })
  expect(changed.body).toEqual({ ...created.body, requests_per_minute: null, concurrent_requests: 3 })
  const credited = await requestAdmin(app, 'POST', `organizations/globex/credit`, {
    body: { amount: '0.000000001', note: 'gift' },
  })
  expect(credited.body).toEqual({ ...changed.body, balance_usd: '0.000000001' })
  expect(await requestAdmin(app, 'GET', `organizations/${id}`)).toEqual({ status: 200, body: credited.body })
  const { body: list } = await requestAdmin(app, 'GET', 'organizations?limit=1&order=desc')
  expect(list).toMatchObject({ object: 'list', data: [credited.body], has_more: true, last_id: id })
  expect(adminLines(app)).toEqual([
    {
      admin: 'organization.create',
      organization: id,
      name: 'globex',
      billing: 'prepaid',
      requestsPerMinute: 7,
    },
    {
      admin: 'organization.change',
      organization: id,
      name: 'globex',
      requestsPerMinute: null,
      concurrentRequests: 3,
    },
    { admin: 'organization.credit', organization: id, name: 'globex', usd: '0.000000001' },
  ])
  expect(await paid.billing.values('SELECT note FROM ledger WHERE organization_id = ?', id)).toEqual([
    ['gift'],
  ])
})

test('the admin API returns an organization as weir orgs list --json prints it', async () => {
  await using paid = await startAdmin()
  const { body } = await requestAdmin(paid.app, 'GET', 'organizations/default')
  const printed: string[] = []
  const context = {
    environment: databaseEnvironment(paid.database),
    cwd: '/',
    home: '/',
    out: (text: string) => void printed.push(text),
    err() {},
  }
  await orgs.run(['list', '--json'], context)
  const { object: _, ...organization } = body
  expect(JSON.parse(printed.join(''))).toEqual([organization])
})

describe('a change of the operator takes effect at once', () => {
  test('for a key that is created, rotated and revoked', async () => {
    await using paid = await startAdmin()
    const { app } = paid
    const statusOf = async (key: unknown) =>
      (await app.request('/v1/models', { headers: { authorization: `Bearer ${String(key)}` } })).status
    const created = await requestAdmin(app, 'POST', 'keys', {
      body: { organization: 'default', name: 'ci', expires_in: '90d' },
    })
    expect(created.body).toEqual({
      object: 'api_key',
      id: expect.any(String),
      key: expect.stringMatching(/^sk-weir-/),
      name: 'ci',
      organization: 'default',
      project: null,
      parent: null,
      ...unlimited,
      permissions: [],
      tags: [],
      note: null,
      content_log: false,
      last4: String(created.body.key).slice(-4),
      created_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      revoked_at: null,
      replaced_by: null,
    })
    const [createdAt, expiresAt] = [created.body.created_at, created.body.expires_at].map(String)
    expect(Date.parse(expiresAt!) - Date.parse(createdAt!)).toBe(90 * 86_400_000)
    expect(await statusOf(created.body.key)).toBe(200)
    const rotated = await requestAdmin(app, 'POST', `keys/${String(created.body.id)}/rotate`, {
      body: { grace: '0s' },
    })
    expect([await statusOf(created.body.key), await statusOf(rotated.body.key)]).toEqual([401, 200])
    const revoked = await requestAdmin(app, 'POST', `keys/${String(rotated.body.id)}/revoke`)
    expect([revoked.status, await statusOf(rotated.body.key)]).toEqual([200, 401])
    const { body } = await requestAdmin(app, 'GET', `keys?order=desc&limit=1`)
    expect(body).toMatchObject({ data: [{ ...revoked.body, object: 'api_key' }], has_more: true })
  })

  test('for a key that is rotated without a body, for a day', async () => {
    await using paid = await startAdmin()
    const path = 'keys/Test00000000/rotate'
    const broken = await requestAdmin(paid.app, 'POST', path, { body: '{' })
    expect([broken.status, broken.body.error]).toMatchObject([
      400,
      { message: 'The request body is not valid JSON.' },
    ])
    const rotated = await requestAdmin(paid.app, 'POST', path)
    expect([rotated.status, rotated.body.key]).toEqual([200, expect.stringMatching(/^sk-weir-/)])
    const { body: old } = await requestAdmin(paid.app, 'GET', 'keys/Test00000000')
    expect(old.replaced_by).toBe(rotated.body.id)
    expect(Date.parse(String(old.expires_at)) - Date.now()).toBeGreaterThan(86_340_000)
  })

  test('for limits and billing', async () => {
    await using paid = await startAdmin()
    const { app } = paid
    expect((await app.chat(chatRequest)).headers.get('x-ratelimit-limit-requests')).not.toBe('9')
    await requestAdmin(app, 'POST', 'organizations/default', { body: { requests_per_minute: 9 } })
    expect((await app.chat(chatRequest)).headers.get('x-ratelimit-limit-requests')).toBe('9')
    await requestAdmin(app, 'POST', 'organizations/default', { body: { billing: 'none' } })
    expect((await app.chat(chatRequest)).status).toBe(402)
  })

  test('for an organization that is deleted, whose data is then deleted, too', async () => {
    await using paid = await startAdmin()
    const { app, billing } = paid
    await billing.fund('globex', '1')
    const headers = { authorization: `Bearer ${await billing.keyOf('globex')}` }
    const reply = await app.chat({ ...chatRequest, store: true }, { headers })
    expect([reply.status, ((await reply.json()) as { readonly id: string }).id]).toEqual([
      200,
      expect.any(String),
    ])
    const { body } = await requestAdmin(app, 'DELETE', 'organizations/globex')
    expect(body).toEqual({
      id: expect.stringMatching(/^org_/),
      object: 'organization.deleted',
      deleted: true,
    })
    expect((await app.request('/v1/models', { headers })).status).toBe(403)
    expect((await requestAdmin(app, 'GET', `organizations/${String(body.id)}`)).status).toBe(404)
    const rows = async () => [
      ...(await billing.rows('SELECT 1 FROM usage WHERE organization_id = ?', String(body.id))),
      ...(await billing.rows('SELECT 1 FROM completions WHERE organization_id = ?', String(body.id))),
    ]
    await waitUntil(async () => (await rows()).length === 0, 'the data is deleted')
    await waitUntil(
      async () =>
        (await requestAdmin(app, 'POST', 'organizations', { body: { name: 'globex' } })).status === 200,
      'the name is free',
    )
  })
})

const unchanged = startOnce(startAdmin)

test.each([
  ['POST', 'organizations', { name: '' }, 400],
  ['POST', 'organizations', { name: 'default' }, 400],
  ['POST', 'organizations', { name: 'x', billing: 'free' }, 400],
  ['POST', 'organizations', { name: 'x', requests_per_minute: 0 }, 400],
  ['POST', 'organizations', { name: 'x', secret: 1 }, 400],
  ['POST', 'organizations', [], 400],
  ['POST', 'organizations/none', { billing: 'none' }, 404],
  ['POST', 'organizations/default', { tokens_per_minute: 1.5 }, 400],
  ['POST', 'organizations/default', { tokens_per_minute: 2 ** 60 }, 400],
  ['POST', 'organizations/%ff', { billing: 'none' }, 404],
  ['POST', "organizations/'%20OR%201=1", { billing: 'none' }, 404],
  ['DELETE', 'organizations/none', undefined, 404],
  ['GET', 'organizations?after=org_none', undefined, 400],
  ['GET', 'organizations?limit=101', undefined, 400],
  ['POST', 'organizations/default/credit', { amount: '1e3' }, 400],
  ['POST', 'organizations/default/credit', { amount: '-2' }, 400],
  ['POST', 'organizations/default/credit', { amount: '0' }, 400],
  ['POST', 'organizations/default/credit', { amount: 5 }, 400],
  ['POST', 'organizations/default/credit', { amount: '99999999999999999999' }, 400],
  ['POST', 'organizations/none/credit', { amount: '1' }, 404],
  ['POST', 'keys', { organization: 'none' }, 404],
  ['POST', 'keys', { organization: 'default', expires_in: 'tomorrow' }, 400],
  ['POST', 'keys', { organization: 'default', expires_in: '99999d' }, 400],
  ['POST', 'keys', { organization: 'default', name: 'x'.repeat(300) }, 400],
  ['POST', 'keys', { organization: 'default', name: 'x'.repeat(70_000) }, 413],
  ['POST', 'keys/none/revoke', undefined, 404],
  ['POST', 'keys/none/rotate', {}, 404],
  ['POST', 'keys/Test00000000/rotate', { grace: '-1h' }, 400],
] as const)(
  '%s /admin/%s with %j is rejected with %i, and changes nothing',
  async (method, path, body, status) => {
    const paid = await unchanged()
    const before = await paid.billing.values('SELECT * FROM organizations')
    const reply = await requestAdmin(
      paid.app,
      method,
      path,
      body === undefined ? {} : { body: JSON.stringify(body) },
    )
    expect([reply.status, reply.body]).toEqual([status, { error: expect.any(Object) }])
    expect(JSON.stringify(reply.body)).not.toContain('SQLITE')
    expect(adminLines(paid.app)).toEqual([])
    expect(await paid.billing.values('SELECT * FROM organizations')).toEqual(before)
  },
)

import { describe, expect, test } from 'bun:test'
import type { App } from '../../support/app.ts'
import { chatRequest } from '../../support/scenario.ts'
import { adminLines, type AdminReply, requestAdmin, startAdmin } from '../support/admin.ts'
import { startOnce } from '../../support/start-once.ts'

type Body = AdminReply['body']

/** Creates an object, and returns it. */
async function create(app: App, path: string, body: object): Promise<Body> {
  const created = await requestAdmin(app, 'POST', path, { body })
  expect(created.status).toBe(200)
  return created.body
}

const limits = {
  budget_usd: '0.000000001',
  budget_period: 'week',
  budget_time_zone: 'Europe/Berlin',
  requests_per_minute: 5,
  tokens_per_minute: 6000,
  concurrent_requests: 2,
  models: ['anthropic/*', 'acme/river'],
  enabled: false,
}

/** What a body without a budget that was spent from has left of this one. */
const budget = {
  limit_usd: '0.000000001',
  spent_usd: '0.00',
  reserved_usd: '0.00',
  held_usd: '0.00',
  allocated_usd: '0.00',
  left_usd: '0.000000001',
  resets_at: expect.stringMatching(/T2[23]:00:00\.000Z$/),
}

const owners = ['organizations', 'projects', 'keys'] as const

/** Creates an object of this kind in another organization than that of the first key. */
async function createOwner(app: App, kind: (typeof owners)[number]): Promise<Body> {
  if (kind === 'organizations') return create(app, kind, { name: 'acme' })
  await create(app, 'organizations', { name: 'acme' })
  return create(app, kind, { organization: 'acme', name: 'river' })
}

describe.each(owners)('the limits of %s', (kind) => {
  test('are changed field by field with PATCH, and shown with what is left of the budget', async () => {
    await using paid = await startAdmin()
    const { app } = paid
    const { id, ...created } = await createOwner(app, kind)
    const path = `${kind}/${String(id)}`
    const changed = await requestAdmin(app, 'PATCH', path, { body: limits })
    expect(changed).toEqual({ status: 200, body: expect.objectContaining({ ...limits, id, budget }) })
    expect(await requestAdmin(app, 'GET', path)).toEqual(changed)
    const again = await requestAdmin(app, 'PATCH', path, { body: { models: [], enabled: true } })
    expect(again.body).toEqual({ ...changed.body, models: [], enabled: true })
    const cleared = {
      budget_usd: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      models: null,
    }
    const { body } = await requestAdmin(app, 'PATCH', path, { body: cleared })
    const calendar = { budget_period: 'week', budget_time_zone: 'Europe/Berlin' }
    const { key: _, ...shown } = created
    expect(body).toEqual({ ...shown, ...calendar, id })
    const { body: list } = await requestAdmin(app, 'GET', `${kind}?limit=1&order=desc`)
    expect(list).toMatchObject({ data: [body], last_id: id })
  })

  test('are logged in USD, under the name of the change', async () => {
    await using paid = await startAdmin()
    const { id } = await createOwner(paid.app, kind)
    await requestAdmin(paid.app, 'PATCH', `${kind}/${String(id)}`, { body: limits })
    const singular = kind.slice(0, -1)
    expect(adminLines(paid.app).at(-1)).toMatchObject({
      admin: `${singular}.change`,
      [singular]: id,
      organization: kind === 'organizations' ? id : 'acme',
      budget: '0.000000001',
      budgetPeriod: 'week',
      budgetTimeZone: 'Europe/Berlin',
      requestsPerMinute: 5,
      models: 'anthropic/* acme/river',
      enabled: false,
    })
  })

  const withOwner = startOnce(async () => {
    const paid = await startAdmin()
    const { id } = await createOwner(paid.app, kind)
    return { ...paid, path: `${kind}/${String(id)}` }
  })

  test.each([
    [{ budget_usd: 5 }, 'budget_usd'],
    [{ budget_usd: 'five' }, 'budget_usd'],
    [{ budget_usd: '-1' }, 'budget_usd'],
    [{ budget_usd: '0.0000000001' }, 'budget_usd'],
    [{ budget_usd: '99999999999' }, 'budget_usd'],
    [{ budget_period: 'year' }, 'budget_period'],
    [{ budget_time_zone: 'Europe/Atlantis' }, 'budget_time_zone'],
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
    [{ tokens_per_minute: '5' }, 'tokens_per_minute'],
    [{ concurrent_requests: 1.5 }, 'concurrent_requests'],
    [{ models: 'anthropic/*' }, 'models'],
    [{ models: ['acme/river', ''] }, 'models[1]'],
    [{ models: ['a\0b'] }, 'models[0]'],
    [{ models: Array.from({ length: 101 }, (_, index) => `*${index}`) }, 'models'],
    [{ enabled: null }, 'enabled'],
    [{ budget: '5' }, 'budget'],
    [{}, null],
  ])('%j is rejected, names the field, and changes nothing', async (body, param) => {
    const { app, path } = await withOwner()
    const before = await requestAdmin(app, 'GET', path)
    const reply = await requestAdmin(app, 'PATCH', path, { body: JSON.stringify(body) })
    expect(reply).toMatchObject({ status: 400, body: { error: { param } } })
    expect(await requestAdmin(app, 'GET', path)).toEqual(before)
    expect(adminLines(app).filter(({ admin }) => String(admin).endsWith('.change'))).toEqual([])
  })

  test('release what killed servers hold of the budget of the period, and nothing else', async () => {
    await using paid = await startAdmin()
    const { app, billing } = paid
    const { id } = await createOwner(app, kind)
    const path = `${kind}/${String(id)}`
    expect(await requestAdmin(app, 'POST', `${path}/release_held`)).toMatchObject({ status: 400 })
    await requestAdmin(app, 'PATCH', path, { body: { budget_usd: '1' } })
    const [[organization] = []] = await billing.values("SELECT id FROM organizations WHERE name = 'acme'")
    await billing.values(
      `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
       VALUES (?, 0, ?, 100000000, 0, 250000000, 0)`,
      String(id),
      String(organization),
    )
    const held = { spent_usd: '0.10', held_usd: '0.25', left_usd: '0.65', resets_at: null }
    expect((await requestAdmin(app, 'GET', path)).body).toMatchObject({ budget: held })
    const released = await requestAdmin(app, 'POST', `${path}/release_held`)
    expect(released.body).toMatchObject({
      id,
      budget: { spent_usd: '0.10', held_usd: '0.00', left_usd: '0.90' },
    })
    const singular = kind.slice(0, -1)
    expect(adminLines(app).at(-1)).toMatchObject({
      admin: `${singular}.release_held`,
      [singular]: id,
      usd: '0.25',
    })
  })
})

describe.each(owners)('a change of the limits of %s takes effect with the next request', (kind) => {
  test.each([
    ['a budget of nothing', { budget_usd: '0' }, 402, 'budget_exceeded'],
    ['no models', { models: [] }, 403, 'model_not_allowed'],
    ['being disabled', { enabled: false }, 403, `${kind.slice(0, -1)}_disabled`],
  ])('%s', async (_, change, status, code) => {
    await using paid = await startAdmin()
    const { app } = paid
    const project = await create(app, 'projects', { organization: 'default', name: 'river' })
    const key = await create(app, 'keys', { organization: 'default', project: project.id, name: 'river' })
    const ids = { organizations: 'default', projects: String(project.id), keys: String(key.id) }
    const headers = { authorization: `Bearer ${String(key.key)}` }
    expect((await app.chat(chatRequest, { headers })).status).toBe(200)
    await requestAdmin(app, 'PATCH', `${kind}/${ids[kind]}`, { body: change })
    const reply = await app.chat(chatRequest, { headers })
    expect([reply.status, await reply.json()]).toMatchObject([status, { error: { code } }])
    const undone = { budget_usd: null, models: null, enabled: true }
    await requestAdmin(app, 'PATCH', `${kind}/${ids[kind]}`, { body: undone })
    expect((await app.chat(chatRequest, { headers })).status).toBe(200)
  })
})

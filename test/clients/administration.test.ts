import OpenAI, { APIError } from 'openai'
import { describe, expect, test } from 'bun:test'
import type { KeyInput } from '../../src/storage/ports/accounts.ts'
import { type BillingScenario, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { openaiClient } from './support/openai-client.ts'

/** A gateway, and OpenAI's client with a key that manages an organization of it. */
async function startManaged(properties: Partial<KeyInput> = {}) {
  const paid = await startBillingScenario(jsonReply())
  const admin = await administrator(paid, 'default', properties)
  return { ...paid, paid, admin, projects: admin.projects }
}

/** OpenAI's client for administration, as its documentation creates it. */
async function administrator(
  { app, billing }: BillingScenario,
  organization: string,
  properties: Partial<KeyInput>,
) {
  const input = { name: 'terraform', expiresAt: null, permissions: ['admin'], ...properties } as const
  const { key } = await billing.keys.create({ ...input, organization })
  const client = new OpenAI({ baseURL: `${app.url}/v1`, adminAPIKey: key.reveal(), maxRetries: 0 })
  return client.admin.organization
}

/** The error that OpenAI's client throws. */
async function errorOf(call: PromiseLike<unknown>) {
  const error = await Promise.resolve(call).catch((error: unknown) => error)
  if (error instanceof APIError) return { status: error.status, type: error.type, code: error.code }
  throw new Error('The call has succeeded.')
}

describe('the administration client of OpenAI', () => {
  test('creates, retrieves, renames, lists and archives projects', async () => {
    await using managed = await startManaged()
    const { projects } = managed
    const created = await projects.create({ name: 'search' })
    expect(created).toMatchObject({
      object: 'organization.project',
      name: 'search',
      status: 'active',
      archived_at: null,
    })
    expect(created.id).toStartWith('proj_')
    expect(await projects.retrieve(created.id)).toEqual(created)
    expect(await projects.update(created.id, { name: 'ranking' })).toEqual({ ...created, name: 'ranking' })
    for (const name of ['one', 'two', 'three']) await projects.create({ name })
    const names = async (query = {}) =>
      (await Array.fromAsync(projects.list({ limit: 2, ...query }))).map(({ name }) => name ?? null)
    expect(await names()).toEqual(['ranking', 'one', 'two', 'three'])
    const archived = await projects.archive(created.id)
    expect(archived).toMatchObject({ id: created.id, status: 'archived', archived_at: expect.any(Number) })
    expect(await names()).toEqual(['one', 'two', 'three'])
    expect(await names({ include_archived: true })).toEqual(['ranking', 'one', 'two', 'three'])
    expect(await errorOf(projects.update(created.id, { name: 'x' }))).toMatchObject({ status: 400 })
    expect(await errorOf(projects.create({ name: 'one' }))).toMatchObject({ status: 400 })
  })

  test('creates a key of a project as a service account, changes it and revokes it', async () => {
    await using managed = await startManaged()
    const { app, projects } = managed
    const { id: project_id } = await projects.create({ name: 'search' })
    const account = await projects.serviceAccounts.create(project_id, {
      name: 'ci',
      expires_in_seconds: 3600,
    })
    const value = account.api_key?.value ?? ''
    const client = openaiClient(app, { key: value })
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('acme/river')
    const [key] = await Array.fromAsync(projects.apiKeys.list(project_id))
    expect(key).toMatchObject({
      object: 'organization.project.api_key',
      id: account.id,
      name: 'ci',
      last_used_at: null,
      redacted_value: `sk-weir-${account.id}-...${value.slice(-4)}`,
      owner: { type: 'service_account', service_account: { id: account.id, name: 'ci' } },
      owner_project_access: 'active',
      expires_at: account.created_at + 3600,
    })
    expect(await projects.apiKeys.retrieve(account.id, { project_id })).toEqual(key!)
    const changed = await projects.apiKeys.update(account.id, { project_id, expires_in_seconds: 60 })
    expect(changed.expires_at).toBeLessThan(account.created_at + 3600)
    expect(await projects.serviceAccounts.retrieve(account.id, { project_id })).toMatchObject({ name: 'ci' })
    expect(await projects.apiKeys.delete(account.id, { project_id })).toEqual({
      id: account.id,
      object: 'organization.project.api_key.deleted',
      deleted: true,
    })
    expect(await errorOf(client.models.list())).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(await Array.fromAsync(projects.apiKeys.list(project_id))).toEqual([])
    expect(await errorOf(projects.apiKeys.retrieve(account.id, { project_id }))).toMatchObject({
      status: 404,
    })
  })

  test('reads and changes the rate limit of a project, which is one for all models', async () => {
    await using managed = await startManaged()
    const { projects, billing } = managed
    await billing.organizations.change('default', { requestsPerMinute: 600 })
    const { id: project_id } = await projects.create({ name: 'search' })
    const [inherited, ...others] = await Array.fromAsync(projects.rateLimits.listRateLimits(project_id))
    expect(inherited).toMatchObject({
      object: 'project.rate_limit',
      model: '*',
      max_requests_per_1_minute: 600,
    })
    expect(others).toEqual([])
    const id = inherited?.id ?? ''
    const changed = await projects.rateLimits.updateRateLimit(id, {
      project_id,
      max_requests_per_1_minute: 50,
      max_tokens_per_1_minute: 7000,
    })
    expect(changed).toMatchObject({ max_requests_per_1_minute: 50, max_tokens_per_1_minute: 7000 })
    expect(await Array.fromAsync(projects.rateLimits.listRateLimits(project_id))).toEqual([changed])
    expect(await projects.retrieve(project_id)).toMatchObject({ requests_per_minute: 50 })
    const images = projects.rateLimits.updateRateLimit(id, { project_id, max_images_per_1_minute: 5 })
    expect(await errorOf(images)).toMatchObject({ status: 400, code: 'unknown_parameter' })
    const other = projects.rateLimits.updateRateLimit('rl_gpt-5', {
      project_id,
      max_requests_per_1_minute: 5,
    })
    expect(await errorOf(other)).toMatchObject({ status: 404 })
  })

  test('reads, changes and removes the models that a project may use', async () => {
    await using managed = await startManaged()
    const { modelPermissions } = managed.projects
    const { id } = await managed.projects.create({ name: 'search' })
    const all = {
      object: 'project.model_permissions' as const,
      mode: 'deny_list' as const,
      model_ids: [] as string[],
    }
    expect(await modelPermissions.retrieve(id)).toEqual(all)
    const allowed = { mode: 'allow_list' as const, model_ids: ['acme/*'] }
    expect(await modelPermissions.update(id, allowed)).toEqual({ ...all, ...allowed })
    expect(await managed.projects.retrieve(id)).toMatchObject({ models: ['acme/*'] })
    const denied = modelPermissions.update(id, { mode: 'deny_list', model_ids: ['acme/river'] })
    expect(await errorOf(denied)).toMatchObject({ status: 400, code: 'unsupported_value' })
    expect(await modelPermissions.delete(id)).toEqual({
      object: 'project.model_permissions.deleted',
      deleted: true,
    })
    expect(await modelPermissions.retrieve(id)).toEqual(all)
  })

  test('reads, changes and removes the spend limit of a project, and reads that of the organization', async () => {
    await using managed = await startManaged()
    const { admin, projects, billing } = managed
    const { id } = await projects.create({ name: 'search' })
    expect(await errorOf(projects.spendLimit.retrieve(id))).toMatchObject({ status: 404 })
    const limit = { currency: 'USD', interval: 'month', threshold_amount: 12_345 } as const
    const set = await projects.spendLimit.update(id, limit)
    expect(set).toEqual({ object: 'project.spend_limit', ...limit, enforcement: { status: 'inactive' } })
    expect(await projects.spendLimit.retrieve(id)).toEqual(set)
    expect(await projects.retrieve(id)).toMatchObject({ budget_usd: '123.45', budget_period: 'month' })
    const nothing = await projects.spendLimit.update(id, { ...limit, threshold_amount: 0 })
    expect(nothing.enforcement).toEqual({ status: 'enforcing' })
    expect(await projects.spendLimit.delete(id)).toEqual({
      object: 'project.spend_limit.deleted',
      deleted: true,
    })
    expect(await projects.spendLimit.delete(id)).toMatchObject({ deleted: false })
    expect(await errorOf(admin.spendLimit.retrieve())).toMatchObject({ status: 404 })
    await billing.organizations.change('default', { budget: 5_000_000n, budgetPeriod: 'day' })
    expect(await admin.spendLimit.retrieve()).toMatchObject({ interval: 'day', threshold_amount: 0.5 })
    expect(await errorOf(admin.spendLimit.update(limit))).toMatchObject({ status: 405 })
  })

  test('creates, lists and revokes admin keys, which may use no model', async () => {
    await using managed = await startManaged()
    const { admin, app } = managed
    const created = await admin.adminAPIKeys.create({ name: 'second', expires_in_seconds: 60 })
    const { value, ...shown } = created
    expect(created).toMatchObject({
      object: 'organization.admin_api_key',
      name: 'second',
      last_used_at: null,
    })
    expect(created.expires_at).toBe(created.created_at + 60)
    expect(await admin.adminAPIKeys.retrieve(created.id)).toEqual(shown)
    const keys = await Array.fromAsync(admin.adminAPIKeys.list({ limit: 1, order: 'desc' }))
    expect(keys.map(({ name }) => name ?? null)).toEqual(['second', 'terraform'])
    expect(JSON.stringify(keys)).not.toContain(value)
    const second = new OpenAI({ baseURL: `${app.url}/v1`, adminAPIKey: value, maxRetries: 0 })
    await second.admin.organization.projects.create({ name: 'search' })
    const { models } = (await managed.billing.keys.find(created.id))?.limits ?? {}
    expect(models).toEqual([])
    expect(await admin.adminAPIKeys.delete(created.id)).toEqual({
      id: created.id,
      object: 'organization.admin_api_key.deleted',
      deleted: true,
    })
    expect(await errorOf(second.admin.organization.projects.list())).toMatchObject({ status: 401 })
  })

  test('reads usage and costs with the same key', async () => {
    await using managed = await startManaged()
    const { data } = await managed.admin.usage.costs({ start_time: Math.floor(Date.now() / 1000) - 86_400 })
    expect(data.length).toBeGreaterThan(0)
  })

  test('is rejected with 403 for a key without the permission', async () => {
    await using managed = await startManaged({ permissions: ['mint'] })
    const { projects, adminAPIKeys } = managed.admin
    const forbidden = { status: 403, type: 'permission_error', code: 'permission_required' }
    expect(await errorOf(projects.list())).toEqual(forbidden)
    expect(await errorOf(projects.create({ name: 'search' }))).toEqual(forbidden)
    expect(await errorOf(adminAPIKeys.create({ name: 'mine' }))).toEqual(forbidden)
    expect(await managed.billing.count('projects')).toBe(0)
  })

  test('does not see or change the projects and keys of another organization', async () => {
    await using managed = await startManaged()
    const { paid, projects, billing } = managed
    const { id: project_id } = await projects.create({ name: 'search' })
    const account = await projects.serviceAccounts.create(project_id, { name: 'ci' })
    await billing.organizations.create('globex')
    const other = await administrator(paid, 'globex', {})
    const own = await other.projects.create({ name: 'search' })
    expect(await Array.fromAsync(other.projects.list())).toEqual([own])
    const { id } = account
    for (const call of [
      () => other.projects.retrieve(project_id),
      () => other.projects.update(project_id, { name: 'x' }),
      () => other.projects.archive(project_id),
      () => other.projects.spendLimit.delete(project_id),
      () => other.projects.apiKeys.list(project_id),
      () => other.projects.apiKeys.delete(id, { project_id }),
      () => other.projects.apiKeys.delete(id, { project_id: own.id }),
      () => other.projects.serviceAccounts.create(project_id, { name: 'x' }),
      () => other.adminAPIKeys.delete('Test00000000'),
    ])
      expect(await errorOf(call())).toMatchObject({ status: 404 })
    expect(await projects.retrieve(project_id)).toMatchObject({ name: 'search', status: 'active' })
    expect(await projects.apiKeys.retrieve(id, { project_id })).toMatchObject({ id })
  })
})

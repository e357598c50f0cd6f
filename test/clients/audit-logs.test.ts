import OpenAI from 'openai'
import { expect, test } from 'bun:test'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'

/** A gateway with two organizations, each with a key that manages it. */
async function startTwo() {
  const paid = await startBillingScenario(jsonReply())
  await paid.billing.organizations.create('globex')
  const manage = async (organization: string) => {
    const input = { organization, name: 'terraform', expiresAt: null, permissions: ['admin'] } as const
    const { record, key } = await paid.billing.keys.create(input)
    const baseURL = `${paid.app.url}/v1`
    const client = new OpenAI({ baseURL, adminAPIKey: key.reveal(), maxRetries: 0 })
    return { id: record.id, ...client.admin.organization }
  }
  return { ...paid, own: await manage('default'), other: await manage('globex') }
}

test('the client of OpenAI lists the changes of its organization, of no other, and with its filters', async () => {
  await using gateway = await startTwo()
  const { own, other, billing } = gateway
  const { id } = await own.projects.create({ name: 'search' })
  await own.projects.update(id, { name: 'ranking' })
  await other.projects.create({ name: 'of globex' })
  await billing.organizations.credit('default', 5n, 'Invoice 7')
  const list = async (query: OpenAI.Admin.Organization.AuditLogListParams = {}) =>
    Array.fromAsync(own.auditLogs.list({ limit: 2, ...query }))
  const all = await list()
  const types = all.map(({ type }) => type as string)
  expect(types.slice(0, 4)).toEqual([
    'organization.credited',
    'project.updated',
    'project.created',
    'api_key.created',
  ])
  expect(JSON.stringify(all)).not.toContain('globex')
  const [credited, updated, created] = all
  const { effective_at } = created!
  expect(created).toMatchObject({
    project: { id },
    actor: { type: 'api_key', api_key: { id: own.id, service_account: { id: own.id } } },
    'project.created': { id, data: { name: 'search' } },
  })
  expect(updated?.['project.updated']).toEqual({ id, changes_requested: { name: 'ranking' } as object })
  // The operator has neither a name, an address nor a note for an organization.
  expect(credited?.actor).toEqual({ type: 'session', session: {} })
  for (const hidden of ['tester', 'test-machine', 'Invoice 7', 'note'])
    expect(JSON.stringify(all)).not.toContain(hidden)
  const projectEvents = [updated!, created!]
  expect(await list({ actor_ids: [own.id] })).toEqual(projectEvents)
  expect(await list({ actor_ids: ['tester'] })).toEqual([])
  expect(await list({ event_types: ['project.created', 'project.updated'] })).toEqual(projectEvents)
  expect(await list({ project_ids: [id] })).toEqual(projectEvents)
  expect(await list({ resource_ids: [id] })).toEqual(projectEvents)
  expect(effective_at).toBeWithin(Date.now() / 1000 - 600, Date.now() / 1000 + 1)
  expect(await list({ effective_at: { lt: effective_at - 60 } })).toEqual([])
  expect(await list({ effective_at: { gt: effective_at + 60 } })).toEqual([])
  expect(await list({ effective_at: { gte: effective_at - 60, lte: effective_at + 60 } })).toEqual(all)
})

test('the deliveries of the webhooks of the operator are not listed for an organization', async () => {
  await using gateway = await startTwo()
  const { own, billing } = gateway
  const organization = (await billing.organizations.find('default'))?.id ?? ''
  await billing.rows(
    `INSERT INTO webhook_events (id, type, created_at, data, routed, organization_id)
      VALUES ('evt_1', 'balance.low', 1, '{}', true, '${organization}')`,
  )
  await billing.rows(
    "INSERT INTO webhook_deliveries (event_id, endpoint, next_at) VALUES ('evt_1', 'pager', 9999999999999)",
  )
  await billing.rows("UPDATE webhook_deliveries SET status = 'dead', attempts = 9")
  await billing.webhooks.retry({ event: 'evt_1', endpoint: 'pager' })
  expect((await billing.audit.page({ order: 'desc', limit: 1 }))?.items).toMatchObject([
    { event: 'webhook_delivery.retried', organizationId: organization },
  ])
  const list = async (query: OpenAI.Admin.Organization.AuditLogListParams) =>
    Array.fromAsync(own.auditLogs.list(query))
  expect(JSON.stringify(await list({}))).not.toContain('pager')
  expect(await list({ resource_ids: ['pager', 'evt_1:pager'] })).toEqual([])
  const type = 'webhook_delivery.retried' as 'project.created'
  expect(await list({ event_types: [type] })).toEqual([])
})

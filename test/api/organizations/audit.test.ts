import { describe, expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'
import { adminKey, requestAdmin, startAdmin } from '../support/admin.ts'
import { type AuditedChange, operatorChanges, unaudited } from '../support/audited-changes.ts'
import { ownChanges } from '../support/audited-own-changes.ts'

type Entry = Readonly<Record<string, unknown>> & { readonly id: string; readonly event: string }

const operator = { authorization: `Bearer ${adminKey}` }

/** They have a test of their own, because they need a delivery. */
const retries = ['POST /admin/webhooks/{endpoint}/retry', 'POST /admin/webhook_deliveries/{delivery}/retry']

/** The entries that are new since the last call, the oldest first. */
function follow({ app }: BillingScenario) {
  let last = ''
  return async (): Promise<readonly Entry[]> => {
    const { body } = await requestAdmin(
      app,
      'GET',
      `audit_logs?order=asc&limit=100${last && `&after=${last}`}`,
    )
    const entries = body.data as readonly Entry[]
    last = entries.at(-1)?.id ?? last
    return entries
  }
}

/** Gives every budget something held, so that it can be released. */
async function holdSome({ billing }: BillingScenario, owner: string): Promise<void> {
  const [organization] = (await billing.organizations.list()).filter(({ name }) => name === 'globex')
  const start = Math.floor(Date.now() / 86_400_000) * 86_400_000
  await billing.rows(
    `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated, notified)
      VALUES ('${owner}', ${start}, '${organization?.id}', 0, 0, 5, 0, 0)`,
  )
}

/** Makes each change, once more, and without a key, and expects an entry for each object. */
async function walk(
  scenario: BillingScenario,
  changes: readonly AuditedChange[],
  headers: Readonly<Record<string, string>>,
  expected: object,
): Promise<string[]> {
  const ids: Record<string, string> = { rate_limit_id: 'rl_all_models' }
  const secrets: string[] = []
  const entries = follow(scenario)
  await entries()
  for (const { operation, body, event, changed, repeats, creates } of changes) {
    const [method = '', template = ''] = operation.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
    const send = (sent: Readonly<Record<string, string | null>>) =>
      scenario.app.request(path, { method, headers: sent, ...(body && { body }) })
    if (event === 'budget.released') await holdSome(scenario, path.split('/').at(-2) ?? '')
    expect([operation, (await send({ ...headers, authorization: null })).status]).toEqual([operation, 401])
    expect([operation, await entries()]).toEqual([operation, []])
    const reply = await send(headers)
    const made = (await reply.json()) as Readonly<Record<string, unknown>>
    expect([operation, reply.status]).toEqual([operation, 200])
    const key = made.key ?? made.value ?? (made.api_key as { value?: string } | undefined)?.value
    if (typeof key === 'string') secrets.push(key.split('-').at(-1) ?? '')
    if (creates) ids[creates] = String(made.id)
    const [entry, ...others] = await entries()
    // A rotation creates another key.
    const created = event === 'api_key.rotated' ? ['api_key.created'] : []
    expect([operation, others.map((other) => other.event)]).toEqual([operation, created])
    expect(entry).toMatchObject({ event, ...expected })
    if (event !== 'organization.deleted') expect(entry?.after).toMatchObject(changed)
    if (repeats === undefined) continue
    const again = await send(headers)
    expect([operation, again.ok]).toEqual([operation, repeats === 'changes nothing'])
    expect([operation, await entries()]).toEqual([operation, []])
  }
  return secrets
}

test('every operation of the API that changes something is audited, or listed as one that is not', async () => {
  await using scenario = await startAdmin()
  const { paths } = (await (await scenario.app.request('/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, object>>
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['post', 'patch', 'put', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  const managed = operations.filter((operation) => / \/(admin|v1\/organization)\//.test(operation))
  const known = [...operatorChanges, ...ownChanges].map(({ operation }) => operation)
  expect(managed.toSorted()).toEqual([...new Set([...known, ...retries, ...unaudited])].toSorted())
})

describe('the audit log', () => {
  test('has an entry for each change of the operator, by the admin key and with its values', async () => {
    await using scenario = await startAdmin()
    const actor = { type: 'admin_key', id: null, name: 'WEIR_ADMIN_KEY' }
    const expected = { actor, source: 'api', address: '127.0.0.1', forwarded_for: '203.0.113.7' }
    const headers = { ...operator, 'x-forwarded-for': '203.0.113.7' }
    const secrets = await walk(scenario, operatorChanges, headers, expected)
    const text = JSON.stringify(await scenario.billing.rows('SELECT * FROM audit_entries'))
    expect(secrets).toHaveLength(2)
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  test('has an entry for each change that a key makes in its organization', async () => {
    await using scenario = await startAdmin()
    const input = { organization: 'default', name: 'manager', expiresAt: null, budget: 1_000_000_000n }
    const { record, key } = await scenario.billing.keys.create({ ...input, permissions: ['admin', 'mint'] })
    const headers = { authorization: `Bearer ${key.reveal()}` }
    const actor = { type: 'api_key', id: record.id, name: 'manager' }
    const expected = { actor, source: 'api', organization: 'default', forwarded_for: null }
    const secrets = await walk(scenario, ownChanges, headers, expected)
    const text = JSON.stringify(await scenario.billing.rows('SELECT * FROM audit_entries'))
    expect(secrets).toHaveLength(4)
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  test('names the admin key after it was revoked, and the page as the source of its changes', async () => {
    await using scenario = await startAdmin()
    const { app, billing } = scenario
    const { record, key } = await billing.adminKeys.create({ name: 'ada', expiresAt: null })
    const entries = follow(scenario)
    await entries()
    const headers = { authorization: `Bearer ${key.reveal()}`, origin: app.url }
    await requestAdmin(app, 'POST', 'organizations', { headers, body: { name: 'globex' } })
    await billing.adminKeys.revoke(record.id)
    expect(await entries()).toEqual([
      expect.objectContaining({
        actor: { type: 'admin_key', id: record.id, name: 'ada' },
        source: 'page',
      }),
      expect.objectContaining({ event: 'admin_key.deleted', source: 'cli' }),
    ])
  })

  test('is found by organization, actor, event, resource and time, and an entry by its ID', async () => {
    await using scenario = await startAdmin()
    const { app } = scenario
    await requestAdmin(app, 'POST', 'organizations', { body: { name: 'globex' } })
    const list = async (query: string) => {
      const { status, body } = await requestAdmin(app, 'GET', `audit_logs?${query}`)
      return status === 200 ? (body.data as readonly Entry[]).map(({ event }) => event) : status
    }
    expect(await list('organization=globex')).toEqual(['organization.created'])
    expect(await list('actor=WEIR_ADMIN_KEY')).toEqual(['organization.created'])
    expect(await list('event=organization.created&resource=globex')).toEqual(['organization.created'])
    expect(await list('organization=globex&end_time=1')).toEqual([])
    expect(await list(`organization=org_${'0'.repeat(32)}`)).toEqual([])
    expect(await list('organization=nobody')).toBe(404)
    for (const query of ['after=x', `after=audit_log-${'0'.repeat(32)}`, 'event=x', 'start_time=x'])
      expect([query, await list(query)]).toEqual([query, 400])
    const { body } = await requestAdmin(app, 'GET', 'audit_logs?limit=1')
    const [entry] = body.data as readonly Entry[]
    expect((await requestAdmin(app, 'GET', `audit_logs/${entry?.id}`)).body).toEqual(entry!)
    expect((await requestAdmin(app, 'GET', 'audit_logs/x')).status).toBe(404)
  })

  test('has an entry for each retry of webhook deliveries, and none if there is nothing to retry', async () => {
    await using receiver = startReceiver([() => new Response(null, { status: 500 })])
    await using scenario = await startAdmin(jsonReply(), {
      settings: { webhooks: [receiver.settings] },
    })
    const { app, billing } = scenario
    await billing.rows(
      "INSERT INTO webhook_events (id, type, created_at, data, routed) VALUES ('evt_1', 'provider.down', 1, '{}', true)",
    )
    const dead = "UPDATE webhook_deliveries SET status = 'dead', attempts = 9"
    await billing.rows(
      "INSERT INTO webhook_deliveries (event_id, endpoint, next_at) VALUES ('evt_1', 'alerts', 9999999999999)",
    )
    await billing.rows(dead)
    const entries = follow(scenario)
    await entries()
    await requestAdmin(app, 'POST', 'webhook_deliveries/evt_1:alerts/retry')
    expect(await entries()).toMatchObject([
      {
        event: 'webhook_delivery.retried',
        resource: { type: 'webhook_delivery', id: 'evt_1:alerts', name: 'alerts' },
        before: { status: 'dead', attempts: 9, next_attempt_at: null },
        after: { status: 'pending', attempts: 0, next_attempt_at: expect.any(String) },
      },
    ])
    const result = 'SELECT response_status FROM webhook_deliveries'
    await waitUntil(async () => (await billing.values(result))[0]?.[0] === 500, 'the result of the delivery')
    await billing.rows(dead)
    await requestAdmin(app, 'POST', 'webhooks/alerts/retry')
    expect(await entries()).toMatchObject([
      { event: 'webhook.retried', resource: { type: 'webhook', name: 'alerts' }, after: { deliveries: 1 } },
    ])
    await billing.rows("UPDATE webhook_deliveries SET status = 'delivered'")
    for (const path of [
      'webhooks/alerts/retry',
      'webhooks/none/retry',
      'webhook_deliveries/evt_2:alerts/retry',
    ])
      await requestAdmin(app, 'POST', path)
    expect(await entries()).toEqual([])
  })
})

import { expect, test } from 'bun:test'
import { replyCost, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { type ReceivedEvent, startReceiver } from '../../support/webhook-receiver.ts'
import { adminKey, requestAdmin } from '../support/admin.ts'

/** Costs 62,000 nano-dollars, and reserves 137,000. */
const request = { ...chatRequest, max_tokens: 5 }

test('the budgets of a key and of its organization, and its balance, tell of their thresholds with names', async () => {
  expect(replyCost).toBe(62_000)
  await using receiver = startReceiver([], { organization: 'default' })
  await using ofAnother = startReceiver([], { name: 'another', organization: 'acme' })
  await using paid = await startBillingScenario([jsonReply(), jsonReply()], {
    balance: '0.002100',
    now: () => Date.UTC(2026, 10, 26, 12),
    settings: {
      webhooks: [ofAnother.settings, receiver.settings],
      alerts: { low_balance: 0.002 },
    },
    environment: { WEIR_ADMIN_KEY: adminKey },
  })
  const { app } = paid
  const organization = { budget_usd: '0.000230', budget_period: 'day' }
  await requestAdmin(app, 'PATCH', 'organizations/default', { body: organization })
  const key = await requestAdmin(app, 'PATCH', 'keys/Test00000000', { body: { budget_usd: '0.000200' } })
  expect((await app.chat(request)).status).toBe(200)
  expect(receiver.received).toEqual([])
  expect((await app.chat(request)).status).toBe(200)
  const events = (await receiver.waitFor(3)).map(({ event }) => event)
  // What is refused tells nothing.
  expect((await app.chat(request)).status).toBe(402)
  const organizationFields = { id: expect.stringMatching(/^org_/), name: 'default' }
  const crossing = { organization: organizationFields, threshold_percent: 50, spent_usd: '0.000124' }
  const order = ({ type, data }: ReceivedEvent) => `${type} ${data.budget_usd === '0.0002'}`
  const sorted = events.toSorted((one, other) => (order(one) < order(other) ? -1 : 1))
  expect(sorted.map(({ type, data }) => [type, data])).toEqual([
    ['balance.low', { organization: organizationFields, balance_usd: '0.001976', threshold_usd: '0.002' }],
    [
      'budget.threshold',
      {
        ...crossing,
        owner: { type: 'organization', ...organizationFields },
        budget_usd: '0.00023',
        period_start: Date.UTC(2026, 10, 26) / 1000,
      },
    ],
    [
      'budget.threshold',
      {
        ...crossing,
        owner: { type: 'api_key', id: 'Test00000000', name: key.body.name },
        budget_usd: '0.0002',
        period_start: null,
      },
    ],
  ])
  expect(receiver.received).toHaveLength(3)
  expect(ofAnother.received).toEqual([])
})

test('a key that expires within seven days is reported by the next sweep', async () => {
  await using receiver = startReceiver()
  await using paid = await startBillingScenario(jsonReply(), {
    settings: { webhooks: [receiver.settings] },
    environment: { WEIR_ADMIN_KEY: adminKey },
    sweepInterval: 50,
  })
  const expiry = Date.now() + 3 * 86_400_000
  await paid.billing.values('UPDATE api_keys SET created_at = 1')
  await requestAdmin(paid.app, 'PATCH', 'keys/Test00000000', {
    body: { expires_at: new Date(expiry).toISOString() },
  })
  const [webhook] = await receiver.waitFor(1)
  expect(webhook?.event).toMatchObject({
    type: 'key.expiring',
    data: {
      organization: { name: 'default' },
      api_key: { id: 'Test00000000', name: 'first key', expires_at: Math.floor(expiry / 1000) },
    },
  })
})

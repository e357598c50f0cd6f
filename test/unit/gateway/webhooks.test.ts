import { expect, test } from 'bun:test'
import { delayAfter } from '../../../src/gateway/webhooks/deliverer.ts'
import { alertRulesOf, webhookProblems } from '../../../src/gateway/webhooks/endpoints.ts'
import { webhookSecret } from '../../support/webhook-receiver.ts'

const endpoint = { name: 'alerts', url: 'https://example.com/hook', secret: webhookSecret }

test('an event is attempted eleven times, for a day', () => {
  const delays: number[] = []
  for (let attempt = 1, delay; (delay = delayAfter(attempt, () => 0.5)) !== undefined; attempt++)
    delays.push(delay)
  expect(delays).toHaveLength(10)
  expect(delays).toEqual(delays.toSorted((one, other) => one - other))
  const hours = delays.reduce((sum, delay) => sum + delay) / 3_600_000
  expect(hours).toBeWithin(23, 24)
})

test('the delays differ by a tenth, so that the events of an outage do not return together', () => {
  expect([delayAfter(1, () => 0), delayAfter(1, () => 1)]).toEqual([4500, 5500])
})

const needsPermission = 'Set allow_private: true if it is meant to be reached.'

test.each([
  ['http:// in its URL', { url: 'http://example.com/' }, `must begin with https://. ${needsPermission}`],
  [
    'an address of this machine',
    { url: 'https://127.0.0.1/' },
    `leads to an address that is not on the public internet. ${needsPermission}`,
  ],
  [
    'an IPv6 address of its network',
    { url: 'https://[fd00::1]/' },
    `leads to an address that is not on the public internet. ${needsPermission}`,
  ],
  [
    'a password in its URL',
    { url: 'https://a:b@example.com/', allow_private: true },
    'must not contain a user name or password.',
  ],
])('an endpoint with %s is a problem of the settings', (_, change, message) => {
  const problems = webhookProblems({ webhooks: [{ ...endpoint, ...change }] })
  expect(problems).toEqual([{ path: 'webhooks[0].url', message }])
})

test('an endpoint on a private address is allowed where the settings say so', () => {
  const webhooks = [
    { ...endpoint, url: 'http://10.0.0.1:8080/hook', allow_private: true },
    { ...endpoint, name: 'b' },
  ]
  expect(webhookProblems({ webhooks })).toEqual([])
})

test('two endpoints with one name are a problem of the settings', () => {
  expect(webhookProblems({ webhooks: [endpoint, endpoint] })).toEqual([
    { path: 'webhooks[1].name', message: 'is the name of an earlier endpoint.' },
  ])
})

test('transactions write only the events that an endpoint wants', () => {
  const alerts = { lowBalance: 0.5 }
  const rules = (...events: readonly 'balance.low'[]) =>
    alertRulesOf({ webhooks: [{ ...endpoint, ...(events.length > 0 && { events: [...events] }) }], alerts })
  expect(rules()).toEqual({
    budgetThresholds: [50, 80, 100],
    lowBalance: 500_000_000n,
    responses: true,
    keys: true,
  })
  expect(rules('balance.low')).toEqual({
    budgetThresholds: [],
    lowBalance: 500_000_000n,
    responses: false,
    keys: false,
  })
  expect(alertRulesOf({ webhooks: [], alerts })).toEqual({
    budgetThresholds: [],
    lowBalance: undefined,
    responses: false,
    keys: false,
  })
})

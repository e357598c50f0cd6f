import { expect, onTestFinished, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import type { WebhookSettings } from '../../../src/config/webhook-settings.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { newDatabase } from '../../support/database-connection.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { startReceiver, webhookSecret } from '../../support/webhook-receiver.ts'
import { adminKey, requestAdmin } from '../support/admin.ts'

const failure = json({ error: { message: 'Down.' } }, { status: 500 })

/** A gateway with these endpoints, whose provider fails once: that is an event. */
function startWith(...webhooks: readonly WebhookSettings[]) {
  return startScenario([failure, jsonReply()], {
    settings: { webhooks: [...webhooks], breaker: { failures: 1 } },
    environment: { WEIR_ADMIN_KEY: adminKey },
  })
}

type Listed = { readonly data: readonly Readonly<Record<string, unknown>>[] }

async function deliveriesOf({ app }: Awaited<ReturnType<typeof startWith>>, query = '') {
  const { body } = await requestAdmin(app, 'GET', `webhook_deliveries${query}`)
  return (body as unknown as Listed).data
}

const rejecting =
  (status: number, body = 'No such channel.') =>
  () =>
    new Response(body, { status })

test('an event that is rejected is pending, and sent with the same id once more', async () => {
  await using receiver = startReceiver([rejecting(500)])
  await using scenario = await startWith(receiver.settings)
  await scenario.app.chat(chatRequest)
  const [first] = await receiver.waitFor(1)
  await waitUntil(async () => (await deliveriesOf(scenario))[0]?.error != null, 'the result of the attempt')
  const [pending] = await deliveriesOf(scenario, '?status=pending')
  expect(pending).toMatchObject({
    id: `${first?.event.id}:alerts`,
    type: 'provider.down',
    status: 'pending',
    attempts: 1,
    response_status: 500,
    error: 'The endpoint responded with status 500: No such channel.',
    data: { provider: 'acme' },
  })
  const delay = Date.parse(String(pending?.next_attempt_at)) - Date.parse(String(pending?.attempted_at))
  expect(delay).toBeWithin(4000, 60_000)
  const retried = await requestAdmin(scenario.app, 'POST', `webhook_deliveries/${pending?.id}/retry`)
  expect([retried.status, retried.body.attempts]).toEqual([200, 1])
  const [, second] = await receiver.waitFor(2)
  expect([second?.body, second?.headers['webhook-id']]).toEqual([first?.body, first?.event.id])
  await waitUntil(
    async () => (await deliveriesOf(scenario, '?status=delivered')).length === 1,
    'the delivery',
  )
})

test('an endpoint that replies with 410 receives nothing more until a reload, and then what it has missed', async () => {
  await using receiver = startReceiver([rejecting(410)])
  await using scenario = await startWith(receiver.settings)
  await scenario.app.chat(chatRequest)
  await waitUntil(async () => (await deliveriesOf(scenario, '?status=dead')).length === 1, 'a dead delivery')
  await waitUntil(() => scenario.app.lines.some((line) => line.includes('endpoint is gone')), 'the log')
  await scenario.app.chat(chatRequest)
  await waitUntil(
    async () => (await deliveriesOf(scenario, '?status=pending')).length === 1,
    'the next event',
  )
  expect(receiver.received).toHaveLength(1)
  const { runtime } = scenario.app
  const { settings } = runtime.configuration()
  const webhooks = settings.webhooks.map((endpoint) => ({ ...endpoint }))
  await runtime.reload({ settings: { ...settings, webhooks }, file: null, environment: {} })
  const { body } = await requestAdmin(scenario.app, 'POST', 'webhooks/alerts/retry')
  expect(body).toEqual({ object: 'webhook_retry', deliveries: 1 })
  await receiver.waitFor(2, ({ event }) => event.type === 'provider.down')
  await receiver.waitFor(1, ({ event }) => event.type === 'provider.up')
})

test('a slow endpoint does not hold up another one', async () => {
  const gate = Promise.withResolvers<Response>()
  await using slow = startReceiver([() => gate.promise], { name: 'slow' })
  await using quick = startReceiver([], { name: 'quick' })
  await using scenario = await startWith(slow.settings, quick.settings)
  await scenario.app.chat(chatRequest)
  await slow.waitFor(1)
  await quick.waitFor(1)
  await scenario.app.chat(chatRequest)
  await quick.waitFor(2)
  gate.resolve(new Response())
  await slow.waitFor(2)
})

test.each([
  [
    'the name leads to this machine',
    'https://localhost:1/',
    {},
    /^The host of the endpoint is not on the public/,
  ],
  [
    'nothing listens',
    'http://127.0.0.1:1/',
    { allow_private: true },
    /^The host of the endpoint could not be reached/,
  ],
])('a test says that %s', async (_, url, more, message) => {
  await using scenario = await startWith({ name: 'alerts', url, secret: webhookSecret, ...more })
  const { body } = await requestAdmin(scenario.app, 'POST', 'webhooks/alerts/test')
  expect(body).toEqual({ object: 'webhook_test', status: null, error: expect.stringMatching(message) })
})

test('a redirect is not followed', async () => {
  await using target = startReceiver()
  const redirect = () => Response.redirect(target.settings.url, 307)
  await using receiver = startReceiver([redirect])
  await using scenario = await startWith(receiver.settings)
  const { body } = await requestAdmin(scenario.app, 'POST', 'webhooks/alerts/test')
  expect(body).toMatchObject({ status: 307, error: 'The endpoint responded with status 307.' })
  expect(target.received).toEqual([])
})

test('the list of endpoints has neither the secret nor the path of the URL, and a log neither', async () => {
  const echo = rejecting(500, 'Route POST:/hooks/token-of-the-url not found')
  await using receiver = startReceiver([echo, echo])
  await using scenario = await startWith(receiver.settings)
  const tested = await requestAdmin(scenario.app, 'POST', 'webhooks/alerts/test')
  expect(tested.body).toMatchObject({ status: 500, error: expect.stringContaining('Route POST:') })
  await scenario.app.chat(chatRequest)
  await receiver.waitFor(2)
  const listed = await requestAdmin(scenario.app, 'GET', 'webhooks')
  expect(listed.body).toEqual({
    object: 'list',
    data: [
      {
        object: 'webhook_endpoint',
        id: 'alerts',
        origin: new URL(receiver.settings.url).origin,
        events: expect.arrayContaining(['budget.threshold', 'response.completed']),
        organization: null,
        allow_private: true,
        pending: expect.any(Number),
        dead: 0,
      },
    ],
  })
  const shown = JSON.stringify([listed, tested, scenario.app.lines])
  expect(shown).not.toContain(webhookSecret.slice(6))
  expect(shown).not.toContain('token-of-the-url')
  const missing = await requestAdmin(scenario.app, 'POST', 'webhooks/other/test')
  expect([missing.status, missing.body.error]).toEqual([
    404,
    expect.objectContaining({ message: "There is no webhook endpoint 'other'." }),
  ])
})

test('an event is signed with the previous secret, too, while there is one', async () => {
  const secret = `whsec_${Buffer.from('the-next-secret-for-tests-of-webhooks').toString('base64')}`
  await using receiver = startReceiver()
  await using scenario = await startWith({ ...receiver.settings, secret, previous_secret: webhookSecret })
  const { body } = await requestAdmin(scenario.app, 'POST', 'webhooks/alerts/test')
  expect(body.status).toBe(204)
  // The receiver has verified it with the previous one.
  const [webhook] = await receiver.waitFor(1)
  const verified = new Webhook(secret).verify(webhook?.body ?? '', { ...webhook?.headers })
  expect(verified).toMatchObject({ type: 'webhook.test' })
})

test('a gateway that stops ends its attempts, and the next one repeats them at once with the same id', async () => {
  const { location, delete: remove } = await newDatabase()
  onTestFinished(remove)
  await using receiver = startReceiver([() => new Promise(() => {})])
  const options = {
    settings: { webhooks: [receiver.settings], breaker: { failures: 1 } },
    database: location,
  }
  const first = await startScenario(failure, options)
  await first.app.chat(chatRequest)
  const [interrupted] = await receiver.waitFor(1)
  await first[Symbol.asyncDispose]()
  await using _next = await startScenario(jsonReply(), options)
  const [, repeated] = await receiver.waitFor(2)
  expect(repeated?.headers['webhook-id']).toBe(interrupted?.event.id)
  expect(repeated?.body).toBe(interrupted?.body)
})

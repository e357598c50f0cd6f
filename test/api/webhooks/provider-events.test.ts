import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'

const failure = json({ error: { message: 'Down.' } }, { status: 500 })

test('a provider whose circuit opens is down once, and up after its next success', async () => {
  await using receiver = startReceiver()
  await using scenario = await startScenario([failure, failure, jsonReply(), failure, jsonReply()], {
    settings: { webhooks: [receiver.settings], breaker: { failures: 1 } },
  })
  const { app } = scenario
  await app.chat(chatRequest)
  const [down] = await receiver.waitFor(1)
  expect(down?.event).toEqual({
    id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
    object: 'event',
    created_at: expect.any(Number),
    type: 'provider.down',
    data: { provider: 'acme', models: ['river-1'] },
  })
  expect(down?.headers).toMatchObject({
    'webhook-id': down?.event.id,
    'content-type': 'application/json',
    'user-agent': 'weir',
  })
  await app.chat(chatRequest)
  expect((await app.chat(chatRequest)).status).toBe(200)
  const [, up] = await receiver.waitFor(2)
  expect(up?.event).toMatchObject({
    type: 'provider.up',
    data: { provider: 'acme', down_since: down?.event.created_at },
  })
  await app.chat(chatRequest)
  await receiver.waitFor(3)
  await app.chat(chatRequest)
  const events = await receiver.waitFor(4)
  expect(events.map(({ event }) => event.type)).toEqual([
    'provider.down',
    'provider.up',
    'provider.down',
    'provider.up',
  ])
  expect(new Set(events.map(({ event }) => event.id)).size).toBe(4)
})

test('an endpoint that does not want the events of providers receives none', async () => {
  await using wanted = startReceiver()
  await using unwanted = startReceiver([], { name: 'other', events: ['balance.low'] })
  await using ofAcme = startReceiver([], { name: 'acme', organization: 'acme' })
  await using scenario = await startScenario([failure, jsonReply()], {
    settings: {
      webhooks: [unwanted.settings, ofAcme.settings, wanted.settings],
      breaker: { failures: 1 },
    },
  })
  await scenario.app.chat(chatRequest)
  await wanted.waitFor(1)
  await scenario.app.chat(chatRequest)
  await wanted.waitFor(2)
  expect([unwanted.received, ofAcme.received]).toEqual([[], []])
})

test('an endpoint that a reload adds receives events', async () => {
  await using receiver = startReceiver()
  await using scenario = await startScenario(failure, { settings: { breaker: { failures: 1 } } })
  const { runtime, chat } = scenario.app
  const { settings } = runtime.configuration()
  const webhooks = [receiver.settings]
  await runtime.reload({ settings: { ...settings, webhooks }, file: null, environment: {} })
  await chat(chatRequest)
  const [down] = await receiver.waitFor(1)
  expect(down?.event.type).toBe('provider.down')
})

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command as check } from '../../src/cli/commands/check.ts'
import { command as webhooks } from '../../src/cli/commands/webhooks.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createScriptRunner } from '../../src/storage/sqlite/script-runner.ts'
import { createWebhookQueue } from '../../src/storage/scripts/webhooks.ts'
import { startReceiver, webhookSecret } from '../support/webhook-receiver.ts'
import type { WebhookSettings } from '../../src/config/webhook-settings.ts'
import { storageFixture } from './support/storage-fixture.ts'

/** A data folder whose settings have these endpoints, and a dead delivery of an event to the endpoint `alerts`. */
async function startedWith(...endpoints: readonly WebhookSettings[]) {
  const fixture = storageFixture()
  writeFileSync(join(fixture.data, '..', 'weir.yaml'), JSON.stringify({ webhooks: endpoints }))
  await fixture.say(check)
  const database = openDatabase(join(fixture.data, databaseName))
  const store = createWebhookQueue(createScriptRunner(database, { write: async (work) => work() }))
  await store.providerDown('acme', '{"provider":"acme"}')
  await store.route([{ name: 'alerts', events: new Set(['provider.down']) }], 10)
  await store.abandon('alerts', 'The endpoint responded with status 500.')
  const [dead] = (await store.list({ limit: 1, order: 'asc' })).items
  database.close()
  return { ...fixture, id: `${dead?.event}:alerts` }
}

test('weir webhooks test sends a signed event and prints the reply, or fails with it', async () => {
  await using receiver = startReceiver([
    () => new Response(null, { status: 202 }),
    () => new Response('Full.', { status: 503 }),
  ])
  const { say } = await startedWith(receiver.settings)
  const { code, out } = await say(webhooks, 'test', 'alerts')
  const { origin } = new URL(receiver.settings.url)
  expect([code, out]).toEqual([0, `${origin} has accepted the event with status 202.`])
  expect(receiver.received[0]?.event).toMatchObject({ type: 'webhook.test', data: { endpoint: 'alerts' } })
  const failed = await say(webhooks, 'test', 'alerts')
  expect([failed.code, failed.err]).toEqual([1, 'The endpoint responded with status 503: Full.'])
  const missing = await say(webhooks, 'test', 'others')
  expect(missing.err).toBe('There is no endpoint with the name others in the settings. Available: alerts.')
})

test('weir webhooks list shows neither the secret nor the path of a URL', async () => {
  await using receiver = startReceiver()
  const { say } = await startedWith(receiver.settings)
  const { out } = await say(webhooks, 'list')
  expect(out).toMatch(/^alerts +http:\/\/127\.0\.0\.1:\d+\/… +all +0 +1$/m)
  const json = (await say(webhooks, 'list', '--json')).out
  expect(JSON.parse(json)).toEqual([expect.objectContaining({ id: 'alerts', pending: 0, dead: 1 })])
  for (const text of [out, json]) {
    expect(text).not.toContain(webhookSecret.slice(6))
    expect(text).not.toContain('token-of-the-url')
  }
})

test('weir webhooks deliveries lists dead deliveries, which weir webhooks retry makes due once more', async () => {
  await using receiver = startReceiver()
  const { say, id } = await startedWith(receiver.settings)
  const listed = await say(webhooks, 'deliveries', '--status', 'dead')
  expect(listed.out).toContain(id)
  expect(listed.out).toContain('The endpoint responded with status 500.')
  expect((await say(webhooks, 'retry', id)).out).toBe(`The delivery ${id} is due once more.`)
  expect((await say(webhooks, 'deliveries', '--status', 'dead')).out).toBe('There are no such deliveries.')
  expect((await say(webhooks, 'retry', '--dead')).out).toBe('0 deliveries are due once more.')
  const unknown = await say(webhooks, 'retry', 'evt_1:alerts')
  expect([unknown.code, unknown.err]).toEqual([
    1,
    'There is no delivery with this ID. To list them, run: weir webhooks deliveries',
  ])
  expect((await say(webhooks, 'retry')).code).toBe(2)
})

test('weir check says what is wrong with an endpoint, without its secret', async () => {
  const fixture = storageFixture()
  const endpoint = { name: 'a b', url: 'http://10.0.0.1/', secret: 'whsec_too-short-to-be-one' }
  writeFileSync(join(fixture.data, '..', 'weir.yaml'), JSON.stringify({ webhooks: [endpoint] }))
  const { code, out } = await fixture.say(check)
  expect(code).toBe(1)
  expect(out).toContain('webhooks[0].name: must be a name of lower-case letters')
  expect(out).toContain('webhooks[0].secret: must be whsec_ and 24 to 64 bytes in base64')
  expect(out).not.toContain('too-short-to-be-one')
})

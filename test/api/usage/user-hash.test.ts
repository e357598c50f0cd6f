import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { gatedReply, queueRunRequest, waitForRun } from '../../support/background.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { readReport, resultsOf, usagePath } from '../support/usage-reports.ts'

const user = 'ada@example.com'
const key = 'a-key-for-hashes-of-users'

/** The hash of the user with this key, from another implementation. */
async function hashOf(secret: string): Promise<string> {
  const encoded = new TextEncoder().encode(secret)
  const imported = await crypto.subtle.importKey('raw', encoded, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  const signature = await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(user))
  return `user_${Buffer.from(signature).toString('hex').slice(0, 32)}`
}

test('with a key in the settings, users are recorded as its hashes, and found by their names', async () => {
  await using paid = await startBillingScenario(jsonReply(), { settings: { user_hash_key: key } })
  const { app, billing, acme } = paid
  await (await app.chat({ ...chatRequest, user })).arrayBuffer()
  const headers = { 'x-openwebui-user-id': user }
  await (await app.chat({ ...chatRequest, model: 'acme/sea' }, { headers })).arrayBuffer()
  await (await app.chat(chatRequest)).arrayBuffer()
  const rows = await billing.waitForUsage(3)
  const hash = await hashOf(key)
  expect(rows.map((row) => row.user)).toEqual([hash, hash, null])
  expect(hash).not.toBe(await hashOf(`${key}2`))
  // The provider gets what the client sends.
  expect((await acme.request(0)).body).toMatchObject({ user })
  for (const user_ids of [user, hash, [user, hash]]) {
    const results = resultsOf(await readReport(app, usagePath, { group_by: 'user_id', user_ids, limit: 2 }))
    expect(results.map((result) => [result.user_id, result.num_model_requests])).toEqual([[hash, 2]])
  }
  expect(resultsOf(await readReport(app, usagePath, { user_ids: 'bob', limit: 2 }))).toEqual([])
})

test('neither an open reservation nor a line of the log names the user', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(gatedReply(gate.promise), {
    settings: { user_hash_key: key },
  })
  const { app, billing } = paid
  const run = await queueRunRequest(app, { safety_identifier: user, metadata: {} })
  await paid.acme.request(0)
  const [[reservation] = []] = await billing.values('SELECT request FROM reservations')
  expect(JSON.parse(String(reservation))).toMatchObject({ user: await hashOf(key) })
  gate.resolve()
  await waitForRun(app, run.id)
  expect(await billing.usageOf(run.request)).toMatchObject({ user: await hashOf(key) })
  for (const part of user.split('@')) expect(app.lines.join('\n')).not.toMatch(new RegExp(`\\b${part}\\b`))
})

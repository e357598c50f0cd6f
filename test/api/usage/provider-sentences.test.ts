import { expect, test } from 'bun:test'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, chunks, completionOf, delta, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json, jsonPieces } from '../../support/script.ts'

const sentence = 'The engine is overloaded, please try again later.'
const error = { error: { message: sentence } }
const down = json(error, { status: 503 })
const lost = { provider: 'acme', outcome: 'upstream_unavailable', status: 502, provider_message: sentence }

/** Sends the request, and returns what is recorded of it. */
async function detailsOf({ app, billing }: BillingScenario, reply: Response) {
  await reply.text()
  const row = await billing.usageOf(reply.headers.get('x-request-id')!)
  expect(app.lines.join('\n')).not.toContain(sentence)
  return JSON.parse(String(row?.details))
}

test('what a provider said of a failure is recorded where another route served the request', async () => {
  await using paid = await startBillingScenario(down, { other: [jsonReply()] })
  const details = await detailsOf(paid, await paid.app.chat(chatRequest))
  expect(details).toMatchObject({ attempts: [lost, { provider: 'other', outcome: 'ok', status: 200 }] })
  expect(details.provider_message).toBeUndefined()
})

test('of several failed routes the sentence of each is recorded, and none is sent to the client', async () => {
  const other = 'You exceeded your current quota.'
  const exhausted = json({ error: { message: other, code: 'insufficient_quota' } }, { status: 429 })
  await using paid = await startBillingScenario(down, { other: [exhausted] })
  const reply = await paid.app.chat(chatRequest)
  expect(await reply.clone().text()).not.toContain('overloaded')
  expect(await detailsOf(paid, reply)).toMatchObject({
    provider_message: sentence,
    attempts: [lost, { provider: 'other', outcome: 'provider_quota_exhausted', provider_message: other }],
  })
})

test('the sentence of an error in the middle of a stream is recorded', async () => {
  await using paid = await startBillingScenario(chunks([delta({ content: 'Four' }), error]))
  const details = await detailsOf(paid, await paid.app.chat({ ...chatRequest, stream: true }))
  expect(details).toMatchObject({ provider_message: sentence, attempts: [lost] })
})

test('a settlement that could not be written at first has the sentences', async () => {
  const gate = Promise.withResolvers<void>()
  const answer = jsonPieces([gate.promise, JSON.stringify(completionOf(chatOutput()))])
  const settings = { retries: { attempts: 1 } }
  await using paid = await startBillingScenario([down, answer], { settings, lockTimeoutMs: 100 })
  const requesting = paid.app.chat(chatRequest)
  await paid.acme.request(1)
  const locked = await paid.billing.lock()
  gate.resolve()
  const reply = await requesting
  expect([reply.status, await paid.billing.usage()]).toEqual([200, []])
  await locked.release()
  expect(await detailsOf(paid, reply)).toMatchObject({ attempts: [lost, { outcome: 'ok' }] })
})

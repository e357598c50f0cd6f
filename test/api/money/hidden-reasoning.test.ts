import { describe, expect, test } from 'bun:test'
import { cancelRun, queueRunRequest, waitForOutput } from '../../support/background.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta } from '../../support/chat-fixtures.ts'
import { messageRequest } from '../../support/messages.ts'
import { responseRequest, responsesPath } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'

/** In nano-dollars, those of `pricing`. */
const inputPrice = 1000
const outputPrice = 10_000

/** What the provider counts: almost all of it was generated before the marker, and was not streamed. */
const usage = { prompt_tokens: 12, completion_tokens: 5000, total_tokens: 5012 }
const fullCost = 12 * inputPrice + 5000 * outputPrice

const reasoning = { supported_efforts: [] }
const marker = 'END-OF-ANSWER'
const opening = [delta({ role: 'assistant', content: '' }), delta({ content: marker })]

function start(gate: Promise<unknown>, rest: readonly object[], reasons = true) {
  return startBillingScenario(chunks([...opening, gate, ...rest], hang), {
    // Longer than a test waits for anything: what ends without the usage, has not awaited it.
    usageTimeoutMs: 600_000,
    model: { max_output_tokens: 10_000, ...(reasons && { reasoning }) },
  })
}

const ending = [delta({}, 'stop'), { choices: [], usage }]

/** Reads to the marker, leaves, and lets the provider go on once the gateway has noticed that. */
async function leaveAtMarker(
  { app }: BillingScenario,
  path: string,
  body: object,
  resume: () => void,
): Promise<void> {
  const reader = readPieces(await app.request(path, { body: { ...body, stream: true } }))
  await reader.until(marker)
  await reader.leave()
  for (let round = 0; round < 5; round++) await app.request('/livez')
  resume()
}

const doors = [
  ['a chat completion', '/v1/chat/completions', chatRequest],
  ['a response', responsesPath, responseRequest],
  ['a message', '/v1/messages', { ...messageRequest, max_tokens: 10_000 }],
] as const

describe.each(doors)(
  'a client that leaves %s at its own marker, behind hidden reasoning,',
  (_, path, body) => {
    test('pays for all of it, as if it had stayed', async () => {
      const gate = Promise.withResolvers<void>()
      await using paid = await start(gate.promise, ending)
      await leaveAtMarker(paid, path, body, gate.resolve)
      const [row] = await paid.billing.waitForUsage(1)
      expect(row).toMatchObject({ status: 499, completion_tokens: 5000, cost: fullCost, estimated: 0 })
      expect(await paid.acme.requests[0]!.aborted).toBe(true)
      await paid.billing.expectConsistent()
    })
  },
)

test('a background run that is cancelled at the marker of its client is charged all of its hidden reasoning', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await start(gate.promise, ending)
  const { id } = await queueRunRequest(paid.app)
  await waitForOutput(paid.app, id, marker)
  const cancelling = cancelRun(paid.app, id)
  for (let round = 0; round < 5; round++) await paid.app.request('/livez')
  gate.resolve()
  expect((await cancelling).status).toBe(200)
  const [row] = await paid.billing.waitForUsage(1)
  expect(row).toMatchObject({ error: 'cancelled', cost: fullCost, estimated: 0 })
})

test('a model that does not reason is not awaited', async () => {
  await using paid = await start(new Promise(() => {}), [], false)
  await leaveAtMarker(paid, '/v1/chat/completions', chatRequest, () => {})
  expect(await paid.acme.requests[0]!.aborted).toBe(true)
  const [row] = await paid.billing.waitForUsage(1)
  expect(row).toMatchObject({ status: 499, estimated: 1 })
})

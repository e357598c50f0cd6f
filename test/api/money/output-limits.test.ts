import { expect, test } from 'bun:test'
import { maxPromptCost, startBillingScenario } from '../../support/billing-scenario.ts'
import { messageRequest, sendMessage } from '../../support/messages.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

/** A reply of the Responses API that has used all of its lowest limit. */
const sixteenTokens = json({
  object: 'response',
  status: 'incomplete',
  incomplete_details: { reason: 'max_output_tokens' },
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is four' }] }],
  usage: { input_tokens: 12, output_tokens: 16, total_tokens: 28 },
})

test('a limit that the Responses API raises is reserved and charged as it was raised', async () => {
  const acme = { kind: 'openai', api: 'responses' } as const
  await using paid = await startBillingScenario(sixteenTokens, { acme, balance: '1' })
  const reply = await paid.app.chat({ ...chatRequest, max_tokens: 1 })
  expect(paid.acme.requests[0]?.body).toMatchObject({ max_output_tokens: 16 })
  const row = await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ completion_tokens: 16, cost: 12 * 1000 + 16 * 10_000, estimated: 0 })
  expect(await paid.billing.account()).toEqual([1e9 - Number(row?.cost), 0])
  await paid.billing.expectConsistent()
})

test('a balance that covers only the limit of the request is too low where the Responses API raises it', async () => {
  const acme = { kind: 'openai', api: 'responses' } as const
  const balance = ((maxPromptCost + 15 * 10_000) / 1e9).toFixed(9)
  await using paid = await startBillingScenario(sixteenTokens, { acme, balance })
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 1 })).status).toBe(402)
  expect(paid.acme.requests).toEqual([])
  await paid.billing.expectConsistent()
})

const anthropic = { kind: 'anthropic' } as const
/** A model of 128,000 output tokens, of which the settings do not say so. */
const unlimited = {
  routes: [{ provider: 'acme', model: 'claude-opus-5' }],
  max_output_tokens: undefined,
}
const longAnswer = json({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'It is four feet high.' }],
  stop_reason: 'max_tokens',
  usage: { input_tokens: 12, output_tokens: 32_768 },
})
const longestAnswerCost = 32_768 * 10_000

test('a provider that requires a limit is sent the one that was reserved', async () => {
  const balance = ((maxPromptCost + longestAnswerCost) / 1e9).toFixed(9)
  await using paid = await startBillingScenario(longAnswer, { acme: anthropic, model: unlimited, balance })
  expect((await paid.app.chat(chatRequest)).status).toBe(200)
  expect(paid.acme.requests[0]?.body).toMatchObject({ max_tokens: 32_768 })
  expect(await paid.billing.account()).toEqual([75 * 1000, 0])
  await paid.billing.expectConsistent()
})

test('the limit of a message is the reserved one where the model has no parameter for it', async () => {
  const settings = { unsupported_parameters: 'drop' } as const
  const model = { ...unlimited, supported_parameters: [] }
  await using paid = await startBillingScenario(longAnswer, { acme: anthropic, model, settings })
  const reply = await sendMessage(paid.app, { ...messageRequest, max_tokens: 100_000 })
  expect(reply.status).toBe(200)
  expect(paid.acme.requests[0]?.body).toMatchObject({ max_tokens: 32_768 })
})

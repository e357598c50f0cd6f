import { expect, test } from 'bun:test'
import { maxPromptCost, startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { json } from '../../support/script.ts'

/** In nano-dollars, beside the prompt: the most tokens of an answer, of an image of Gemini, and of the context window. */
const answerCost = 100 * 10_000
const imageCost = 4128 * 1000
const windowCost = 50_000 * 1000
const usd = (nanos: number) => (nanos / 1e9).toFixed(9)

const reply = json({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Four.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 40_000, candidatesTokenCount: 5 },
})

/** Asks about an image, or what is in its place, with a balance that covers an image. */
async function askAbout(url: string, balance: number) {
  const paid = await startBillingScenario(reply, {
    acme: { kind: 'gemini' },
    balance: usd(balance),
    model: { context_window: 50_000, input_modalities: ['text', 'image'] },
  })
  const content = [
    { type: 'text', text: 'How high is it?' },
    { type: 'image_url', image_url: { url } },
  ]
  return { paid, ask: () => paid.app.chat({ model: 'acme/river', messages: [{ role: 'user', content }] }) }
}

test.each([
  'data:text/plain;base64,YQ==',
  'DATA:audio/flac;base64,YQ==',
  'data:application/pdf;base64,YQ==',
  'data:,a',
])('the cost of %s in the place of an image is bounded by the context window', async (url) => {
  const { paid, ask } = await askAbout(url, maxPromptCost + imageCost + answerCost)
  await using _ = paid
  expect((await ask()).status).toBe(402)
  expect(paid.acme.requests).toEqual([])
  await paid.billing.fund('default', usd(windowCost + answerCost))
  expect((await ask()).status).toBe(200)
  const [balance] = await paid.billing.account()
  expect(balance).toBeGreaterThan(0)
  await paid.billing.expectConsistent()
})

test.each(['mm_processor_kwargs', 'max_dynamic_patch'])(
  'the cost of an image that %s scales is bounded by the context window',
  async (option) => {
    const imageCost = 16_384 * 1000
    await using paid = await startBillingScenario(jsonReply(chatOutput()), {
      balance: usd(maxPromptCost + imageCost + answerCost + 1_000_000),
      model: { context_window: 50_000, input_modalities: ['text', 'image'] },
    })
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    const request = { model: 'acme/river', messages: [{ role: 'user', content: [image] }] }
    expect((await paid.app.chat(request)).status).toBe(200)
    const scaled = { ...request, [option]: { max_pixels: 100_000_000 } }
    expect((await paid.app.chat(scaled)).status).toBe(402)
    await paid.billing.fund('default', usd(windowCost))
    expect((await paid.app.chat(scaled)).status).toBe(200)
    expect(paid.acme.requests[1]?.body).toHaveProperty(option)
    await paid.billing.expectConsistent()
  },
)

test('the cost of an image is bounded by the largest image', async () => {
  const { paid, ask } = await askAbout(
    'Data:IMAGE/png;base64,iVBORw0KGgo=',
    maxPromptCost + imageCost + answerCost,
  )
  await using _ = paid
  expect((await ask()).status).toBe(200)
})

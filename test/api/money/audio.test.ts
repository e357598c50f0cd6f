import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

/** In nano-dollars a token: text, audio and output, and the most tokens of an answer. */
const [textPrice, audioPrice, outputPrice] = [1000, 4000, 10_000]
const pricing = { input: 1, output: 10, cache_read: 0.1, input_audio: 4 }
const answerCost = 100 * outputPrice
const usd = (nanos: number) => (nanos / 1e9).toFixed(9)

function geminiReply(counts: object) {
  const candidate = { index: 0, content: { role: 'model', parts: [{ text: 'Four.' }] }, finishReason: 'STOP' }
  return json({ candidates: [candidate], usageMetadata: { candidatesTokenCount: 5, ...counts } })
}

function audioOf(bytes: string, format: string) {
  const data = Buffer.from(bytes, 'latin1').toString('base64')
  const text = { type: 'text', text: 'How high is it?' }
  const content = [text, { type: 'input_audio', input_audio: { data, format } }]
  return { ...chatRequest, messages: [{ role: 'user', content }] }
}

/** The beginning of samples at 8 kHz. */
const audioRequest = audioOf(
  'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0',
  'wav',
)

function start(script: ReturnType<typeof json>, balance = '1') {
  return startBillingScenario(script, { acme: { kind: 'gemini' }, model: { pricing }, balance })
}

test.each([
  ['the audio tokens of a prompt', 0, 40 * textPrice + 60 * audioPrice],
  ['those that are not cached', 70, 70 * 100 + 30 * audioPrice],
])('%s have a price of their own', async (_, cachedContentTokenCount, promptCost) => {
  const promptTokensDetails = [
    { modality: 'TEXT', tokenCount: 40 },
    { modality: 'AUDIO', tokenCount: 60 },
  ]
  await using paid = await start(
    geminiReply({ promptTokenCount: 100, promptTokensDetails, cachedContentTokenCount }),
  )
  const reply = await paid.app.chat(audioRequest)
  expect(reply.headers.get('x-weir-cost')).toBe(usd(promptCost + 5 * outputPrice))
  expect(await paid.billing.account()).toEqual([1e9 - promptCost - 5 * outputPrice, 0])
  await paid.billing.expectConsistent()
})

test('a prompt with audio is reserved at its price, and one of text alone is not', async () => {
  // What a template adds is 72 tokens; the text of either prompt has 15 bytes, and the audio part no more than 110.
  const balance = usd((72 + 15 + 110) * textPrice + answerCost)
  await using paid = await start(geminiReply({ promptTokenCount: 12 }), balance)
  expect((await paid.app.chat(audioRequest)).status).toBe(402)
  expect((await paid.app.chat(chatRequest)).status).toBe(200)
  await paid.billing.expectConsistent()
})

test('compressed audio, of which hours may take a few kilobytes, is reserved as the context window', async () => {
  const reply = geminiReply({ promptTokenCount: 12 })
  const balance = usd(3000 * audioPrice + answerCost)
  await using paid = await startBillingScenario(reply, {
    acme: { kind: 'gemini' },
    model: { pricing, context_window: 100_000 },
    balance,
  })
  expect((await paid.app.chat(audioOf('fLaC', 'flac'))).status).toBe(402)
  expect((await paid.app.chat(audioOf('fLaC', 'wav'))).status).toBe(402)
  expect(paid.acme.requests).toEqual([])
  expect((await paid.app.chat(audioRequest)).status).toBe(200)
  await paid.billing.fund('default', usd(100_000 * audioPrice))
  expect((await paid.app.chat(audioOf('fLaC', 'flac'))).status).toBe(200)
  await paid.billing.expectConsistent()
})

test('the models that are listed have the price of audio where it is another one', async () => {
  await using paid = await start(geminiReply({}))
  const { data } = (await (await paid.app.request('/v1/models')).json()) as { data: { pricing: object }[] }
  expect(data[0]?.pricing).toMatchObject({ input: 1, input_audio: 4 })
})

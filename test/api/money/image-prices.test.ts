import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'

const data = 'iVBORw0KGgo='
const url = `data:image/png;base64,${data}`
const user = (...content: readonly object[]) => [{ role: 'user', content }]
const messages = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
const tools = [{ name: 'look', input_schema: { type: 'object' } }]
const inMessages = (content: readonly object[]) => ({
  max_tokens: 1000,
  tools,
  messages: [
    ...user({ type: 'text', text: 'Look.' }),
    { role: 'assistant', content: [call] },
    ...user(...content),
  ],
})
const result = { type: 'tool_result', tool_use_id: 'toolu_1' }

/** Each has two images. */
const forms: readonly (readonly [form: string, path: string, body: object])[] = [
  [
    'files and image parts of chat',
    '/v1/chat/completions',
    {
      messages: user(
        { type: 'file', file: { filename: 'river.png', file_data: url } },
        { type: 'input_image', image_url: url },
        { type: 'file', file: { filename: 'river.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      ),
    },
  ],
  [
    'images and files of responses',
    '/v1/responses',
    {
      input: user(
        { type: 'input_image', image_url: url },
        { type: 'input_file', filename: 'river.png', file_data: url },
      ),
    },
  ],
  [
    'results of tools in messages',
    '/v1/messages',
    inMessages([{ ...result, content: [messages, messages] }]),
  ],
  [
    'messages beside a result and documents of blocks',
    '/v1/messages',
    inMessages([
      { ...result, content: 'Here.' },
      messages,
      { type: 'document', source: { type: 'content', content: [messages] } },
    ]),
  ],
]

test.each(forms)('images in %s have the price of images', async (_, path, body) => {
  const usage = { prompt_tokens: 1000, completion_tokens: 500 }
  const model = {
    pricing: { input: 2, output: 8, image: 0.003 },
    input_modalities: ['text', 'image', 'file'] as const,
    max_output_tokens: 1000,
  }
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), {
    model: { ...model, input_modalities: [...model.input_modalities] },
    balance: '10',
  })
  const reply = await paid.app.request(path, { body: { model: 'acme/river', ...body } })
  expect([reply.status, reply.headers.get('x-weir-cost')]).toEqual([200, '0.012000000'])
  expect(await paid.billing.account()).toEqual([10e9 - 12_000_000, 0])
  await paid.billing.expectConsistent()
})

import { describe, expect, test } from 'bun:test'
import type { Fields } from '../../../src/lib/json/json.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { completionOf, chatOutput } from '../../support/chat-fixtures.ts'
import { anthropicReply, messageRequest } from '../../support/messages.ts'
import { responseRequest, responsesPath } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json, type Script } from '../../support/script.ts'
import { startOnce } from '../../support/start-once.ts'

const pricing = { input: 1, output: 10, cache_read: 0.1, cache_write: 1.25 }
const contextWindow = 20_000
/** Nano-dollars a token. */
const prices = { input: 1000, write: 1250, longWrite: 2000, output: 10_000 }

const long = { type: 'ephemeral', ttl: '1h' }
const short = { type: 'ephemeral', ttl: '5m' }
const untimed = { type: 'ephemeral' }

const file = `data:text/plain;base64,${Buffer.from('A long chapter.').toString('base64')}`
const source = { type: 'text', media_type: 'text/plain', data: 'A long chapter.' }
const user = (part: object) => [{ role: 'user', content: [part] }]

/** By where the marker is: the path and the body of a request with it. */
const requests: Readonly<Record<string, (cache_control: object) => readonly [path: string, body: Fields]>> = {
  'a file of a chat completion': (cache_control) => [
    '/v1/chat/completions',
    { ...chatRequest, messages: user({ type: 'file', file: { file_data: file }, cache_control }) },
  ],
  'a text of a chat completion': (cache_control) => [
    '/v1/chat/completions',
    { ...chatRequest, messages: user({ type: 'text', text: 'How high?', cache_control }) },
  ],
  'a file of a response': (cache_control) => [
    responsesPath,
    {
      ...responseRequest,
      input: user({ type: 'input_file', filename: 'a.txt', file_data: file, cache_control }),
    },
  ],
  'a document of a message': (cache_control) => [
    '/v1/messages',
    { ...messageRequest, messages: user({ type: 'document', source, cache_control }) },
  ],
  'a document in the result of a tool': (cache_control) => {
    const call = { type: 'tool_use', id: 'toolu_01', name: 'read', input: {} }
    const content = [{ type: 'document', source, cache_control }]
    const result = user({ type: 'tool_result', tool_use_id: call.id, content })
    const turns = [{ role: 'user', content: 'Read.' }, { role: 'assistant', content: [call] }, ...result]
    return ['/v1/messages', { ...messageRequest, messages: turns }]
  },
}
const places = Object.entries(requests)

/** Sends the request, and returns what was reserved while it ran and its cost. */
async function costsOf(paid: BillingScenario, script: Script, [path, body]: readonly [string, Fields]) {
  const gate = Promise.withResolvers<void>()
  paid.acme.respondWith({ play: async (...ends) => (await gate.promise, script.play(...ends)) })
  const count = paid.acme.requests.length
  const pending = paid.app.request(path, { body })
  pending.catch(() => {})
  await paid.acme.request(count)
  const [, reserved] = await paid.billing.account()
  gate.resolve()
  const reply = await pending
  expect([reply.status, await reply.text()]).toEqual([200, expect.anything()])
  const row = await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')
  return { reserved, cost: row?.cost ?? 0 }
}

function start(kind: string) {
  const model = { pricing, context_window: contextWindow, max_output_tokens: 100 }
  return startBillingScenario([], { balance: '100', provider: { kind }, model })
}

const paidAnthropic = startOnce(() => start('anthropic'))
const paidOpenRouter = startOnce(() => start('openrouter'))

test.each(places.filter(([name]) => name.startsWith('a file')))(
  'an hour-long cache of %s costs no more than is reserved, and a shorter one reserves less',
  async (_, requestWith) => {
    const paid = await paidAnthropic()
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: contextWindow }
    const usage = { input_tokens: 0, cache_creation_input_tokens: contextWindow, cache_creation }
    const script = anthropicReply([{ type: 'text', text: 'Four.' }], {
      usage: { ...usage, output_tokens: 1 },
    })
    const { reserved, cost } = await costsOf(paid, script, requestWith(long))
    expect(cost).toBe(contextWindow * prices.longWrite + prices.output)
    expect(reserved).toBeGreaterThanOrEqual(cost)
    const shorter = await costsOf(paid, script, requestWith(short))
    expect(shorter.reserved).toBe(reserved - contextWindow * (prices.longWrite - prices.write))
  },
)

describe.each(places)('a cache of %s', (_, requestWith) => {
  test.each([
    ['an hour', long, prices.longWrite],
    ['five minutes', short, prices.write],
    ['no time', untimed, prices.write],
  ])(
    'is charged by the requested time where the provider does not report how long it is: %s',
    async (_name, marker, price) => {
      const paid = await paidOpenRouter()
      const counts = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
      const usage = { ...counts, prompt_tokens_details: { cache_write_tokens: 10 } }
      const script = json({ ...completionOf(chatOutput()), usage })
      const { reserved, cost } = await costsOf(paid, script, requestWith(marker))
      expect(cost).toBe(2 * prices.input + 10 * price + 5 * prices.output)
      expect(reserved).toBeGreaterThanOrEqual(cost)
    },
  )
})

test.each([
  ['does not report it', undefined, 10 * prices.longWrite],
  ['reports five minutes', { ephemeral_5m_input_tokens: 10 }, 10 * prices.write],
  [
    'reports both',
    { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 3 },
    7 * prices.write + 3 * prices.longWrite,
  ],
])(
  'a cache for which an hour was requested is charged as an Anthropic provider reports it: %s',
  async (_, cache_creation, cost) => {
    const paid = await paidAnthropic()
    const usage = { input_tokens: 2, output_tokens: 5, cache_creation_input_tokens: 10, cache_creation }
    const script = anthropicReply([{ type: 'text', text: 'Four.' }], { usage })
    const body = { ...messageRequest, system: [{ type: 'text', text: 'Be brief.', cache_control: long }] }
    const found = await costsOf(paid, script, ['/v1/messages', body])
    expect(found.cost).toBe(2 * prices.input + cost + 5 * prices.output)
  },
)

test.each([
  ['the request', { cache_control: long }],
  ['a property of a router', { cache_control_injection_points: [{ location: 'message', control: long }] }],
  ['a message', { messages: [{ role: 'user', content: 'How high?', cache_control: long }] }],
])('an hour that %s requests is charged where the provider does not report it', async (_, fields) => {
  const paid = await paidOpenRouter()
  const counts = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
  const usage = { ...counts, prompt_tokens_details: { cache_write_tokens: 10 } }
  const script = json({ ...completionOf(chatOutput()), usage })
  const found = await costsOf(paid, script, ['/v1/chat/completions', { ...chatRequest, ...fields }])
  expect(found.cost).toBe(2 * prices.input + 10 * prices.longWrite + 5 * prices.output)
})

test('a tool argument that is named like the lifetime of a cache does not change the price', async () => {
  const paid = await paidOpenRouter()
  const usage = { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cache_write_tokens: 10 } }
  const call = { type: 'tool_use', id: 'toolu_01', name: 'dns', input: { ttl: '1h' } }
  const result = { type: 'tool_result', tool_use_id: call.id, content: 'Done.' }
  const messages = [{ role: 'user', content: 'Go.' }, { role: 'assistant', content: [call] }, ...user(result)]
  const script = json({ ...completionOf(chatOutput()), usage })
  const found = await costsOf(paid, script, ['/v1/messages', { ...messageRequest, messages }])
  expect(found.cost).toBe(2 * prices.input + 10 * prices.write + 5 * prices.output)
})

import { describe, expect, test } from 'bun:test'
import type { Fields } from '../../../src/lib/json/json.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { messageRequest } from '../../support/messages.ts'
import { responseRequest, responsesPath } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json, type Script } from '../../support/script.ts'

/** In nano-dollars a token, that of `pricing`. */
const inputPrice = 1000

const count = 20_000
const written = `{"n":[${Array.from({ length: count }, () => '1e20').join()}]}`
/** The bytes of these numbers without an exponent. */
const minSent = count * 22

const id = 'call_b7Kx2mQ9pLwZ4tRv'
const question = { role: 'user', content: 'How high is it?' }

function chat(input: string, result: unknown): Fields {
  const call = { id, type: 'function', function: { name: 'read', arguments: input } }
  const turn = { role: 'assistant', content: null, tool_calls: [call] }
  return { ...chatRequest, messages: [question, turn, { role: 'tool', tool_call_id: id, content: result }] }
}

function response(input: string, fields: Fields = {}): Fields {
  const call = { type: 'function_call', call_id: id, name: 'read', arguments: input }
  const output = { type: 'function_call_output', call_id: id, output: '4' }
  return { ...responseRequest, ...fields, input: [question, call, output] }
}

/** As JSON text, for a body that is not serialized before it is sent. */
function message(input: string): string {
  const call = { type: 'tool_use', id, name: 'read', input: 'INPUT' }
  const result = { type: 'tool_result', tool_use_id: id, content: '4' }
  const turns = [
    { role: 'assistant', content: [call] },
    { role: 'user', content: [result] },
  ]
  return JSON.stringify({ ...messageRequest, messages: [question, ...turns] }).replace('"INPUT"', input)
}

const half = written.length / 2
const splitText = [
  { type: 'text', text: written.slice(0, half + 1) },
  { type: 'text', text: written.slice(half + 1) },
]
const splitRefusal = [splitText[0], { type: 'refusal', refusal: splitText[1]?.text }]

const cases: readonly (readonly [what: string, kind: string, path: string, body: Fields | string])[] = [
  ['the arguments of a call in a chat completion', 'anthropic', '/v1/chat/completions', chat(written, '4')],
  ['the arguments of a call in a chat completion', 'gemini', '/v1/chat/completions', chat(written, '4')],
  ['a list as arguments', 'anthropic', '/v1/chat/completions', chat(written.slice(5, -1), '4')],
  ['the result of a call', 'gemini', '/v1/chat/completions', chat('{}', written)],
  ['a result in two parts', 'gemini', '/v1/chat/completions', chat('{}', splitText)],
  ['a result in a text and a refusal', 'gemini', '/v1/chat/completions', chat('{}', splitRefusal)],
  ['the arguments of a call in a response', 'anthropic', responsesPath, response(written)],
  [
    'the arguments of a call in a background run',
    'gemini',
    responsesPath,
    response(written, { background: true }),
  ],
  ['the input of a tool in a message', 'anthropic', '/v1/messages', message(written)],
  ['the input of a tool in a message', 'gemini', '/v1/messages', message(written)],
  ['the input of a tool in a message', 'openai-compatible', '/v1/messages', message(written)],
]

/** Sends the request, and returns the length of what the provider receives and what is reserved for it. */
async function reservationOf(kind: string, path: string, body: Fields | string) {
  const gate = Promise.withResolvers<void>()
  const { play } = json({ error: { message: 'No.' } }, { status: 400 })
  const held: Script = { play: async (...ends) => (await gate.promise, play(...ends)) }
  await using paid = await startBillingScenario(held, {
    provider: { kind },
    model: { routes: [{ provider: 'acme', model: 'claude-opus-4-7' }] },
    settings: { compatibility: { function_tools: true } },
  })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${paid.app.key}` }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const pending = fetch(`${paid.app.url}${path}`, { method: 'POST', headers, body: text })
  pending.catch(() => {})
  const sent = JSON.stringify((await paid.acme.request(0)).body).length
  const [, reserved] = await paid.billing.account()
  gate.resolve()
  await (await pending).text()
  await paid.billing.waitForUsage(1)
  return { received: text.length, sent, reserved }
}

describe('numbers that grow when they are written again are reserved as they are sent', () => {
  test.each(cases)('%s (%s)', async (_what, kind, path, body) => {
    const { received, sent, reserved } = await reservationOf(kind, path, body)
    expect([received < minSent, sent > minSent]).toEqual([true, true])
    expect(reserved).toBeGreaterThanOrEqual(sent * inputPrice)
  })
})

describe('a schema that is closed for Anthropic is reserved as it is sent', () => {
  const objects = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [index, { type: 'object' }]))
  const schema = { type: 'object', properties: objects }
  const definition = { name: 'read', parameters: schema, strict: true }

  test.each([
    ['a response format', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } }],
    ['a strict tool', { tools: [{ type: 'function', function: definition }] }],
  ])('%s', async (_what, fields) => {
    const { sent, reserved } = await reservationOf('anthropic', '/v1/chat/completions', {
      ...chatRequest,
      ...fields,
    })
    expect(sent).toBeGreaterThan(2 * JSON.stringify(schema).length)
    expect(reserved).toBeGreaterThanOrEqual(sent * inputPrice)
  })
})

describe('what results of tools have beside their text is reserved as it is sent', () => {
  const calling = (fields: { id: string; name: string }) => ({
    id: fields.id,
    type: 'function',
    function: { name: fields.name, arguments: '{}' },
  })
  const name = 'n'.repeat(256)
  const long = id.repeat(5000)
  const url = 'data:image/png;base64,AAAA'
  const attached = [{ type: 'image_url', image_url: { url } }]

  test.each([
    ['the name of their function', 'gemini', calling({ id, name }), '4', 500],
    ['the id of their call beside images', 'openai-compatible', calling({ id: long, name }), attached, 1],
  ])('%s', async (_what, kind, call, content, results) => {
    const result = { role: 'tool', tool_call_id: call.id, content }
    const turn = { role: 'assistant', content: null, tool_calls: [call] }
    const messages = [question, turn, ...Array.from({ length: results }, () => result)]
    const body = { ...chatRequest, messages }
    const { received, sent, reserved } = await reservationOf(kind, '/v1/chat/completions', body)
    expect(sent).toBeGreaterThan(received * 1.4)
    // The names of the fields around each result are no part of the prompt.
    expect(reserved).toBeGreaterThanOrEqual((sent - results * 150) * inputPrice)
  })
})

test('numbers that do not grow are reserved as they were written', async () => {
  const reservedFor = async (input: string) =>
    (await reservationOf('anthropic', '/v1/chat/completions', chat(input, '4'))).reserved
  const plain = await reservedFor('{"n":[1234]}')
  expect(await reservedFor('{"n":[1e-9]}')).toBe(plain)
  expect(await reservedFor('{"n":"1e9"} ')).toBe(plain)
  expect(await reservedFor('{"n":[1e20]}')).toBe(plain + 17 * inputPrice)
})

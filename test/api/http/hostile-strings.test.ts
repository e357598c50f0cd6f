import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sealState } from '../../../src/domain/generation/sealed-state.ts'
import { readError } from '../../support/chat-reply.ts'
import { postResponse } from '../../support/responses.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

let scenario: Scenario
beforeAll(async () => {
  const reply = json(await Bun.file('test/fixtures/gemini/text.json').text())
  const settings = { compatibility: { function_tools: true } }
  scenario = await startScenario(reply, { acme: { kind: 'gemini' }, settings })
})
afterAll(() => scenario[Symbol.asyncDispose]())

const repeated = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)
const hello = { role: 'user', content: 'Hello' }
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const file = (file_data: string) => ({ type: 'file', file: { file_data } })
const asked = (part: object) => ({ ...chatRequest, messages: [{ role: 'user', content: [part] }] })
const call = (text: string) => ({ id: 'a', type: 'function', function: { name: 'f', arguments: text } })
/** 100 kB of text, and 800,000 units of weight. */
const values = JSON.stringify({ a: repeated(50_000, 0), b: repeated(47_000, {}) })

async function expectRejected(reply: Response, param: string, words: string): Promise<void> {
  const before = scenario.acme.requests.length
  const error = await readError(reply)
  expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param })
  expect(error.message).toContain(words)
  expect(scenario.acme.requests).toHaveLength(before)
}

describe('a data URL', () => {
  const head = (length: number) => 'data:image/png'.padEnd(length - ';base64'.length, ';a') + ';base64'
  const tooLong = 'the media type of a data URL must have at most 1024 characters'

  test.each([
    ['of an image', image(`data:image/png${';a'.repeat(6_000_000)};base64,AAAA`)],
    ['of an image without a comma', image(`data:image/png${';a'.repeat(6_000_000)}`)],
    ['of a file', file(`data:application/pdf${';a'.repeat(600)};base64,AAAA`)],
    ['of one character too many', image(`${head(1025)},AAAA`)],
  ])('%s with a long media type is a 400 that names its message', async (_, part) => {
    await expectRejected(await scenario.app.chat(asked(part)), 'messages[0]', tooLong)
  })

  test('with a long media type is a 400 in responses, too', async () => {
    const content = [{ type: 'input_image', image_url: `data:image/png${';a'.repeat(600)},a` }]
    const reply = await postResponse(scenario.app, { input: [{ ...hello, content }] })
    await expectRejected(reply, 'input[0]', tooLong)
  })

  test('of the maximum length is sent', async () => {
    const before = scenario.acme.requests.length
    expect((await scenario.app.chat(asked(image(`${head(1024)},AAAA`)))).status).toBe(200)
    const { body } = await scenario.acme.request(before)
    expect(JSON.stringify(body)).toContain('"inlineData":{"mimeType":"image/png","data":"AAAA"}')
  })
})

test('a body has at most two million escape sequences', async () => {
  const escaped = (count: number) => {
    const text = '\\n'.repeat(count)
    const body = `{"model":"${chatRequest.model}","messages":[{"role":"user","content":"${text}"}]}`
    return scenario.app.request('/v1/chat/completions', { body })
  }
  expect((await escaped(2_097_152)).status).toBe(200)
  const reply = await escaped(2_097_153)
  const { message, ...error } = await readError(reply)
  expect(error).toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_value',
  })
  expect(message).toBe('The request body has more than 2097152 escape sequences.')
})

describe('the name of a function', () => {
  const named = (length: number) => {
    const { id, type } = call('{}')
    const calls = [{ id, type, function: { name: 'n'.repeat(length), arguments: '{}' } }]
    const result = { role: 'tool', tool_call_id: id, content: '4' }
    const messages = [hello, { role: 'assistant', tool_calls: calls }, ...repeated(50, result)]
    return { ...chatRequest, messages }
  }

  test('is a 400 where each result would repeat more than 256 characters', async () => {
    const reply = await scenario.app.chat(named(257))
    await expectRejected(reply, 'messages', 'the name of a function must have at most 256 characters')
  })

  test('of the maximum length is sent with each result', async () => {
    const before = scenario.acme.requests.length
    expect((await scenario.app.chat(named(256))).status).toBe(200)
    const { body } = await scenario.acme.request(before)
    expect(JSON.stringify(body).split('n'.repeat(256))).toHaveLength(52)
  })
})

describe('the results of tools', () => {
  const results = (count: number, content: string) => {
    const ids = Array.from({ length: count }, (_, index) => `call_${index}`)
    const calls = ids.map((id) => ({ ...call('{}'), id }))
    const answers = ids.map((tool_call_id) => ({ role: 'tool', tool_call_id, content }))
    return { ...chatRequest, messages: [hello, { role: 'assistant', tool_calls: calls }, ...answers] }
  }
  const half = JSON.stringify({ a: repeated(170_000, {}) })

  test.each([
    ['are values up to a million characters together', 2, half, '"response":{"a":['],
    ['are text beyond them, and are not parsed', 3, half, '"response":{"output":"{'],
  ])('%s', async (_, count, content, words) => {
    const before = scenario.acme.requests.length
    expect((await scenario.app.chat(results(count, content))).status).toBe(200)
    const { body } = await scenario.acme.request(before)
    expect(JSON.stringify(body).split(words)).toHaveLength(count + 1)
  })
})

describe('JSON in strings', () => {
  const tooMany = 'too many values. At most 1048576 are allowed'
  const history = (...calls: object[]) => ({
    ...chatRequest,
    messages: [hello, { role: 'assistant', tool_calls: calls }, hello],
  })

  test('of tool calls has as many values as a body, all calls together', async () => {
    const first = await scenario.app.chat(history(call(values)))
    expect(first.status).toBe(200)
    const reply = await scenario.app.chat(history(call(values), call(values)))
    await expectRejected(reply, 'messages', tooMany)
  })

  test('of long arguments with few values is sent', async () => {
    const long = JSON.stringify({ text: 'x'.repeat(2_000_000) })
    expect((await scenario.app.chat(history(call(long), call(long)))).status).toBe(200)
  })

  test('of sealed states has as many values as a body, all states together', async () => {
    const sealed = sealState({ provider: 'acme', state: JSON.parse(values) })
    const reasoning = { type: 'reasoning', summary: [], encrypted_content: sealed }
    expect((await postResponse(scenario.app, { input: [reasoning, hello] })).status).toBe(200)
    const refused = await postResponse(scenario.app, { input: [reasoning, reasoning, hello] })
    await expectRejected(refused, 'input', tooMany)
  })

  test('of sealed thinking has as many values as a body, all turns together', async () => {
    const signature = sealState({ provider: 'acme', state: JSON.parse(values) })
    const turn = { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature }] }
    const send = (...messages: object[]) =>
      scenario.app.request('/v1/messages', {
        body: { model: chatRequest.model, max_tokens: 10, messages: [hello, ...messages, hello] },
      })
    expect((await send(turn)).status).toBe(200)
    const refused = await send(turn, hello, turn)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(tooMany)])
  })
})

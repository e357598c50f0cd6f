import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProviderSettings } from '../../../src/config/provider-settings.ts'
import { assemble } from '../../unit/api/responses/support/step-order.ts'
import { joinedChoices, readCompletion, readError } from '../../support/chat-reply.ts'
import {
  reasoningOf,
  createResponse,
  retrieveResponse,
  streamResponse,
  textOf,
} from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'

/** Who speaks which wire; the folder of its fixtures has the wire's name. */
const wires: Record<string, Partial<ProviderSettings>> = {
  'openai-chat': { kind: 'openai-compatible' },
  anthropic: { kind: 'anthropic' },
  gemini: { kind: 'gemini' },
  responses: { kind: 'openai', api: 'responses' },
}

/** Of a tool that a model calls though none was offered, a response tells nothing. */
const unasked = ['tools', 'parallel-tools']
const fixtures = ['text', 'reasoning', 'schema', 'limit', 'filter', 'empty', ...unasked]
const cases = Object.keys(wires).flatMap((protocol) =>
  fixtures.map((fixture) => [protocol, fixture] as const),
)

const ends: Readonly<Record<string, readonly [status: string, reason: string | undefined]>> = {
  length: ['incomplete', 'max_output_tokens'],
  content_filter: ['incomplete', 'content_filter'],
  stop: ['completed', undefined],
  tool_calls: ['completed', undefined],
}

test.each([
  ['temperature', 'temperature'],
  ['messages', null],
  ['max_tokens', null],
])('a provider blames %s for an error: the client reads the param %p', async (param, expected) => {
  const script = json({ error: { message: 'Unsupported value.', param } }, { status: 400 })
  await using scenario = await startScenario(script)
  const body = { model: 'acme/river', input: 'How high is it?', temperature: 0.5, max_output_tokens: 100 }
  const reply = await scenario.app.request('/v1/responses', { body })
  expect(await readError(reply)).toMatchObject({ status: 400, code: 'upstream_rejected', param: expected })
})

describe('the output of a response equals that of a chat completion:', () => {
  test.each(cases)('%s: %s', async (protocol, fixture) => {
    const file = (form: string) =>
      readFileSync(join(import.meta.dir, '../../fixtures', protocol, `${fixture}.${form}`)).toString()
    const [stream, single] = [events([file('sse')]), json(file('json'))]
    await using scenario = await startScenario([single, single, stream], { acme: wires[protocol]! })
    const completion = await readCompletion(await scenario.app.chat(chatRequest))
    const chat = joinedChoices(completion)[0]!
    const plain = await createResponse(scenario.app)
    const { last, events: received } = await streamResponse(scenario.app)
    expect(assemble(received).end).toEqual(last)
    for (const response of [plain, last!]) {
      expect(textOf(response)).toBe(chat.text)
      expect(reasoningOf(response)).toBe(chat.reasoning)
      expect([response.status, response.incomplete_details?.reason]).toEqual([...ends[chat.finish!]!])
      expect(response).toMatchObject({ provider: 'acme', model: 'acme/river', error: null })
      expect<object | null>(response.usage).toEqual(usageOf(completion))
      expect(await retrieveResponse(scenario.app, response.id)).toEqual(response)
    }
  })

  /** The counts of a completion, as a response tells them. */
  function usageOf({ usage }: Awaited<ReturnType<typeof readCompletion>>): object {
    return {
      input_tokens: usage.prompt_tokens,
      input_tokens_details: { cached_tokens: usage.prompt_tokens_details?.cached_tokens },
      output_tokens: usage.completion_tokens,
      output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens },
      total_tokens: usage.total_tokens,
    }
  }
})

describe('a response requests no storage from the provider:', () => {
  test.each(Object.keys(wires))('%s', async (protocol) => {
    const file = readFileSync(join(import.meta.dir, '../../fixtures', protocol, 'text.json')).toString()
    await using scenario = await startScenario(json(file), { acme: wires[protocol]! })
    const { id } = await createResponse(scenario.app)
    await createResponse(scenario.app, { previous_response_id: id, input: 'And now?' })
    const requested = JSON.stringify(scenario.acme.requests[1]?.body)
    expect(requested).not.toContain('previous_response_id')
    expect(requested).not.toContain('"store":true')
    expect(requested).not.toContain(id)
    for (const text of ['How high is it?', 'A weir measures the river', 'And now?'])
      expect(requested).toContain(text)
  })
})

describe('a provider that fails in the middle fails the response, whatever its kind:', () => {
  test.each(Object.keys(wires))('%s', async (protocol) => {
    const file = readFileSync(
      join(import.meta.dir, '../../fixtures', protocol, 'stream-error.sse'),
    ).toString()
    await using scenario = await startScenario(events([file]), { acme: wires[protocol]! })
    const { last, types } = await streamResponse(scenario.app)
    expect(types.slice(-2)).toEqual(['error', 'response.failed'])
    expect(textOf(last!)).toBe('The gate')
    expect(last).toMatchObject({ status: 'failed', output: [{ status: 'incomplete' }] })
    expect(await retrieveResponse(scenario.app, last!.id)).toEqual(last!)
  })
})

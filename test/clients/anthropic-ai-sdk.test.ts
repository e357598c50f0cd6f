import { createAnthropic } from '@ai-sdk/anthropic'
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, test } from 'bun:test'
import { chatOutput, chunks, delta, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'
import { breakOff, json, type Script } from '../support/script.ts'

const prompt = 'How high is it?'
const text = 'It is four metres.'

async function startWithModel(...scripts: readonly Script[]) {
  const scenario = await startScenario(scripts)
  const { url, key } = scenario.app
  return { ...scenario, model: createAnthropic({ baseURL: `${url}/v1`, apiKey: key })('acme/river') }
}

test('the Anthropic provider of the AI SDK generates a text', async () => {
  await using scenario = await startWithModel(jsonReply(chatOutput({ reasoning: ['A gauge knows.'] })))
  const result = await generateText({ model: scenario.model, maxOutputTokens: 100, prompt })
  expect(result.text).toBe(text)
  expect(result.reasoningText).toBe('A gauge knows.')
  expect(result.finishReason).toBe('stop')
  expect(result.usage).toMatchObject({ inputTokens: 12, outputTokens: 5 })
})

test('the Anthropic provider of the AI SDK streams a text', async () => {
  await using scenario = await startWithModel(streamReply(chatOutput({ reasoning: ['A gauge ', 'knows.'] })))
  const result = streamText({ model: scenario.model, maxOutputTokens: 100, prompt })
  expect(await Array.fromAsync(result.textStream)).toEqual(['It is ', 'four metres.'])
  expect(await result.reasoningText).toBe('A gauge knows.')
  expect(await result.finishReason).toBe('stop')
  expect(await result.usage).toMatchObject({ inputTokens: 12, outputTokens: 5 })
})

describe('the Anthropic provider of the AI SDK calls a tool and sends its result back', () => {
  const calls = [{ id: 'call_a7Kp2mQ9', name: 'measure', arguments: ['{"river"', ':"Elbe"}'] }]
  const calling = chatOutput({ text: undefined, calls, reasoning: ['Hm.'], finish: 'tool_calls' })
  const measure = tool({
    description: 'Measures a river.',
    inputSchema: jsonSchema<{ river: string }>({ type: 'object', properties: { river: { type: 'string' } } }),
    execute: ({ river }) => `${river}: 4.0`,
  })

  test('without a stream', async () => {
    await using scenario = await startWithModel(jsonReply(calling), jsonReply())
    const options = {
      model: scenario.model,
      maxOutputTokens: 100,
      prompt,
      tools: { measure },
      stopWhen: stepCountIs(2),
    }
    expect((await generateText(options)).text).toBe(text)
    expectResult(scenario.acme.requests[1]?.body.messages)
  })

  test('with a stream', async () => {
    await using scenario = await startWithModel(streamReply(calling), streamReply())
    const options = {
      model: scenario.model,
      maxOutputTokens: 100,
      prompt,
      tools: { measure },
      stopWhen: stepCountIs(2),
    }
    expect(await streamText(options).text).toBe(text)
    expectResult(scenario.acme.requests[1]?.body.messages)
  })

  function expectResult(messages: unknown): void {
    expect(messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_a7Kp2mQ9', function: { name: 'measure' } }] },
      { role: 'tool', tool_call_id: 'call_a7Kp2mQ9', content: 'Elbe: 4.0' },
    ])
  }
})

// The provider requests an object as the only call of a tool, of every model that it does not know.
test('the Anthropic provider of the AI SDK generates an object with a model of Gemini', async () => {
  const parts = [{ functionCall: { name: 'json', args: { metres: 4 } } }]
  const reply = json({ candidates: [{ content: { parts }, finishReason: 'STOP' }] })
  await using scenario = await startScenario(reply, { provider: { kind: 'gemini' } })
  const { url, key } = scenario.app
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: key })('acme/river')
  const schema = jsonSchema<{ metres: number }>({
    type: 'object',
    properties: { metres: { type: 'number' } },
  })
  const { output } = await generateText({
    model,
    maxOutputTokens: 100,
    prompt,
    output: Output.object({ schema }),
  })
  expect(output).toEqual({ metres: 4 })
  expect<unknown>(scenario.acme.requests[0]?.body.toolConfig).toEqual({
    functionCallingConfig: { mode: 'ANY' },
  })
})

test('the Anthropic provider of the AI SDK receives errors', async () => {
  await using scenario = await startWithModel(chunks([delta({ content: 'It' })], breakOff))
  const { url } = scenario.app
  const wrong = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'sk-weir-wrong' })('acme/river')
  const error = await generateText({ model: wrong, maxOutputTokens: 100, prompt }).catch(
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(APICallError)
  expect(error).toMatchObject({ statusCode: 401, isRetryable: false })
  const errors: unknown[] = []
  const broken = streamText({
    model: scenario.model,
    prompt,
    onError: (failure) => void errors.push(failure.error),
  })
  await broken.consumeStream()
  expect(errors).toHaveLength(1)
})

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, test } from 'bun:test'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { breakOff } from '../support/script.ts'
import { startScenario } from '../support/scenario.ts'

const prompt = 'How high is it?'
const text = 'It is four metres.'

test('the AI SDK generates a text', async () => {
  await using context = await startWithModel(jsonReply())
  const result = await generateText({ model: context.model, prompt })
  expect(result.text).toBe(text)
  expect(result.finishReason).toBe('stop')
  expect(result.usage).toMatchObject({ inputTokens: 12, outputTokens: 5, totalTokens: 17 })
})

test('the AI SDK streams a text', async () => {
  await using context = await startWithModel(streamReply())
  const result = streamText({ model: context.model, prompt })
  expect(await Array.fromAsync(result.textStream)).toEqual(['It is ', 'four metres.'])
  expect(await result.finishReason).toBe('stop')
  expect(await result.usage).toMatchObject({ inputTokens: 12, outputTokens: 5 })
})

describe('the AI SDK separates reasoning from the text', () => {
  const thoughtful = chatOutput({ reasoning: ['A gauge ', 'would know.'] })

  test('without a stream', async () => {
    await using context = await startWithModel(jsonReply(thoughtful))
    const result = await generateText({ model: context.model, prompt })
    expect(result.reasoningText).toBe('A gauge would know.')
    expect(result.text).toBe(text)
  })

  test('with a stream', async () => {
    await using context = await startWithModel(streamReply(thoughtful))
    const result = streamText({ model: context.model, prompt })
    expect(await result.reasoningText).toBe('A gauge would know.')
    expect(await result.text).toBe(text)
  })
})

describe('the AI SDK calls a tool and sends its result back', () => {
  const calls = [{ id: 'call_a', name: 'measure', arguments: ['{"river"', ':"Elbe"}'] }]
  const calling = chatOutput({ text: undefined, calls, finish: 'tool_calls' })
  const measured: unknown[] = []
  const measure = tool({
    description: 'Measures a river.',
    inputSchema: jsonSchema<{ river: string }>({ type: 'object', properties: { river: { type: 'string' } } }),
    execute: (input) => {
      measured.push(input)
      return '4.0'
    },
  })
  const params = { prompt, tools: { measure }, stopWhen: stepCountIs(2) }

  test.each([
    ['not streamed', jsonReply, {}],
    ['streamed', streamReply, {}],
    ['streamed in fragments', streamReply, { compatibility: { tool_call_fragments: true } }],
  ])('%s', async (form, answerOf, settings) => {
    measured.length = 0
    await using context = await startWithModel([answerOf(calling), answerOf(chatOutput())], { settings })
    const { model } = context
    const result =
      form === 'not streamed' ? generateText({ model, ...params }) : streamText({ model, ...params })
    expect(await (await result).text).toBe(text)
    expect(measured).toEqual([{ river: 'Elbe' }])
    expect(context.acme.requests[1]?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_a', function: { arguments: '{"river":"Elbe"}' } }] },
      { role: 'tool', tool_call_id: 'call_a', content: '4.0' },
    ])
  })
})

test('the AI SDK reports an error after the text of a stream that breaks', async () => {
  const received = Promise.withResolvers<void>()
  await using context = await startWithModel(
    chunks(
      [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' }), received.promise],
      breakOff,
    ),
  )
  const result = streamText({ model: context.model, prompt, onError: () => {} })
  const parts: { readonly type: string; readonly error?: unknown; readonly text?: string }[] = []
  for await (const part of result.fullStream) {
    parts.push(part)
    if (part.type === 'text-delta') received.resolve()
  }
  expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : []))).toEqual(['It is '])
  const errors = parts.filter((part) => part.type === 'error')
  expect(errors).toHaveLength(1)
  expect(JSON.stringify(errors[0]?.error)).toContain('acme')
  expect(parts.findLast((part) => part.type === 'finish')).not.toMatchObject({ finishReason: 'stop' })
})

test('the AI SDK throws a rejection as an APICallError with its message that is not retryable', async () => {
  await using context = await startWithModel(jsonReply())
  const error = await generateText({ model: context.river('acme/sea'), prompt }).catch(
    (error: unknown) => error,
  )
  expect(APICallError.isInstance(error)).toBe(true)
  expect(error).toMatchObject({ statusCode: 404, isRetryable: false })
  expect(error).toHaveProperty('data.error.code', 'model_not_found')
  expect(context.acme.requests).toEqual([])
})

/** A gateway with a scripted provider behind it, and its model as the SDK has it. */
async function startWithModel(...args: Parameters<typeof startScenario>) {
  const scenario = await startScenario(...args)
  const { url, key } = scenario.app
  const river = createOpenAICompatible({
    name: 'weir',
    baseURL: `${url}/v1`,
    apiKey: key,
    includeUsage: true,
  })
  return { ...scenario, river, model: river('acme/river') }
}

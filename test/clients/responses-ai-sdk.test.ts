import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, type ModelMessage, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'
import { type Fields, fieldsOf, listOf } from '../../src/lib/json/json.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'

const text = 'It is four metres.'
const thoughtful = chatOutput({ reasoning: ['A gauge ', 'would know.'] })

/** A gateway with a scripted provider behind it, its model as the SDK has it by default, and what the SDK sends. */
async function startWithModel(...args: Parameters<typeof startScenario>) {
  const scenario = await startScenario(...args)
  const sent: Fields[] = []
  const openai = createOpenAI({
    baseURL: `${scenario.app.url}/v1`,
    apiKey: scenario.app.key,
    fetch: Object.assign(
      (url: string | URL | Request, init?: RequestInit) => {
        sent.push(JSON.parse(String(init?.body)))
        return fetch(url, init)
      },
      { preconnect: fetch.preconnect },
    ),
  })
  return { ...scenario, sent, openai, model: openai('acme/river') }
}

test('the AI SDK generates a text through the Responses API', async () => {
  await using context = await startWithModel(jsonReply())
  const result = await generateText({ model: context.model, prompt: 'How high is it?' })
  expect(result.text).toBe(text)
  expect(result.finishReason).toBe('stop')
  expect(result.usage).toMatchObject({ inputTokens: 12, outputTokens: 5, totalTokens: 17 })
  expect(result.response.id).toStartWith('resp_')
})

test('the AI SDK streams a text with reasoning through the Responses API', async () => {
  await using context = await startWithModel(streamReply(thoughtful))
  const result = streamText({ model: context.model, prompt: 'How high is it?' })
  expect(await Array.fromAsync(result.textStream)).toEqual(['It is ', 'four metres.'])
  expect(await result.reasoningText).toBe('A gauge would know.')
  expect(await result.finishReason).toBe('stop')
  expect(await result.usage).toMatchObject({ inputTokens: 12, outputTokens: 5 })
})

describe('the AI SDK has three turns with reasoning with its default settings', () => {
  const questions = ['How high is it?', 'And now?', 'Thanks.']

  test.each([
    ['not streamed', jsonReply(thoughtful)],
    ['streamed', streamReply(thoughtful)],
  ])('%s', async (form, script) => {
    await using context = await startWithModel(script)
    const messages: ModelMessage[] = []
    for (const content of questions) {
      messages.push({ role: 'user', content })
      const result =
        form === 'not streamed'
          ? await generateText({ model: context.model, messages })
          : streamText({ model: context.model, messages })
      expect(await result.text).toBe(text)
      messages.push(...(await result.response).messages)
    }
    const turns = questions.flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: text },
    ])
    expect(context.acme.requests.map(({ body }) => body.messages)).toEqual([
      turns.slice(0, 1),
      turns.slice(0, 3),
      turns.slice(0, 5),
    ])
    // It repeats nothing that it believes to be stored.
    expect(JSON.stringify(context.sent)).not.toMatch(/four metres|would know|"store"|previous_response_id/)
    const types = listOf(context.sent[2]?.input)
      .map(fieldsOf)
      .map(({ type, id }) => [type, String(id).slice(0, 3)])
    expect(types.filter(([type]) => type === 'item_reference')).toEqual([
      ['item_reference', 'rs_'],
      ['item_reference', 'msg'],
      ['item_reference', 'rs_'],
      ['item_reference', 'msg'],
    ])
    expect(context.app.lines).toEqual([])
  })

  test('where nothing is stored, by sending the earlier output again', async () => {
    await using context = await startWithModel(jsonReply(thoughtful))
    globalThis.AI_SDK_LOG_WARNINGS = false
    const providerOptions = { openai: { store: false } }
    const messages: ModelMessage[] = []
    for (const content of questions) {
      messages.push({ role: 'user', content })
      const result = await generateText({ model: context.model, messages, providerOptions })
      messages.push(...result.response.messages)
    }
    expect(context.acme.requests.at(-1)?.body.messages).toHaveLength(5)
  })

  test('by previous_response_id', async () => {
    await using context = await startWithModel(jsonReply(thoughtful))
    let previousResponseId: string | undefined
    for (const prompt of questions) {
      const providerOptions = { openai: previousResponseId === undefined ? {} : { previousResponseId } }
      const result = await generateText({ model: context.model, prompt, providerOptions })
      previousResponseId = String(result.providerMetadata?.openai?.responseId)
    }
    expect(context.acme.requests.at(-1)?.body.messages).toHaveLength(5)
  })
})

test('the AI SDK reports a text that the output limit cut short', async () => {
  await using context = await startWithModel(streamReply(chatOutput({ finish: 'length' })))
  const result = streamText({ model: context.model, prompt: 'How high is it?' })
  expect(await result.text).toBe(text)
  expect(await result.finishReason).toBe('length')
})

test('the AI SDK reports an error after the text of a response stream that breaks', async () => {
  await using context = await startWithModel(chunks([delta({ content: 'It is ' })]))
  const result = streamText({ model: context.model, prompt: 'How high is it?', onError: () => {} })
  const parts = await Array.fromAsync(result.fullStream)
  expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : []))).toEqual(['It is '])
  expect(JSON.stringify(parts.filter(({ type }) => type === 'error'))).toContain('acme')
  expect(parts.findLast(({ type }) => type === 'finish')).not.toMatchObject({ finishReason: 'stop' })
})

test('the AI SDK throws a rejected response as an APICallError that is not retryable', async () => {
  await using context = await startWithModel(jsonReply())
  const requesting = generateText({ model: context.openai('acme/sea'), prompt: 'How high is it?' })
  const error: unknown = await requesting.catch((error: unknown) => error)
  expect(APICallError.isInstance(error)).toBe(true)
  expect(error).toMatchObject({ statusCode: 404, isRetryable: false })
  expect(error).toHaveProperty('data.error.code', 'model_not_found')
})

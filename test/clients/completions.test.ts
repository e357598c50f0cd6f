import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'
import {
  choice,
  completionModel as model,
  completionReply,
  completionStream,
  completionUsage,
  unfinishedStream,
} from '../api/support/text-completions.ts'
import { startScenario } from '../support/scenario.ts'
import { startOpenaiScenario } from './support/openai-client.ts'

const request = { model: 'acme/river', prompt: 'The gate is' }
const whole = completionReply([choice(' four metres.', { finish_reason: 'stop' })])
const streamed = completionStream([
  choice(' four'),
  choice(' metres.'),
  choice('', { finish_reason: 'stop' }),
])

describe('a completion in the OpenAI client', () => {
  test('has the text and the usage', async () => {
    await using scenario = await startOpenaiScenario(whole, { model })
    const completion = await scenario.openai.completions.create(request)
    expect(completion.choices[0]).toMatchObject({ text: ' four metres.', finish_reason: 'stop' })
    expect(completion.usage).toMatchObject(completionUsage)
  })

  test('is streamed', async () => {
    await using scenario = await startOpenaiScenario(streamed, { model })
    const stream = await scenario.openai.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(' four metres.')
    expect(chunks.at(-1)?.usage).toMatchObject(completionUsage)
  })

  test('that breaks off throws', async () => {
    await using scenario = await startOpenaiScenario(unfinishedStream([choice(' four')]), { model })
    const stream = await scenario.openai.completions.create({ ...request, stream: true })
    await expect(Array.fromAsync(stream)).rejects.toThrow('before it was complete')
  })
})

describe('a completion model in the AI SDK', () => {
  const modelOf = ({ url, key }: { url: string; key: string }) =>
    createOpenAICompatible({ name: 'weir', baseURL: `${url}/v1`, apiKey: key }).completionModel('acme/river')

  test('generates a text', async () => {
    await using scenario = await startScenario(whole, { model })
    const result = await generateText({ model: modelOf(scenario.app), prompt: 'The gate is' })
    expect(result.text).toBe(' four metres.')
    expect(result.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 })
  })

  test('streams a text', async () => {
    await using scenario = await startScenario(streamed, { model })
    const result = streamText({ model: modelOf(scenario.app), prompt: 'The gate is' })
    expect((await Array.fromAsync(result.textStream)).join('')).toBe(' four metres.')
  })
})

import { Agent, Runner } from '@openai/agents-core'
import { OpenAIProvider } from '@openai/agents-openai'
import { describe, expect, test } from 'bun:test'
import { chatOutput, streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { startOpenaiScenario } from './support/openai-client.ts'

const text = 'It is four metres.'
const thoughtful = chatOutput({ reasoning: ['A gauge would know.'] })
const conversation = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'How high is it?' },
  { role: 'assistant', content: text },
  { role: 'user', content: 'And now?' },
]

/** A gateway with a scripted provider behind it, and an agent on it that knows no tools. */
async function startWithAgent(...args: Parameters<typeof startOpenaiScenario>) {
  const scenario = await startOpenaiScenario(...args)
  const modelProvider = new OpenAIProvider({ openAIClient: scenario.openai, useResponses: true })
  const runner = new Runner({ modelProvider, tracingDisabled: true })
  const agent = new Agent({ name: 'gauge', instructions: 'Be brief.', model: 'acme/river' })
  return { ...scenario, runner, agent }
}

describe('the Agents SDK has a conversation of two turns', () => {
  test('with its own history', async () => {
    await using scenario = await startWithAgent(jsonReply(thoughtful))
    const first = await scenario.runner.run(scenario.agent, 'How high is it?')
    expect(first.finalOutput).toBe(text)
    const second = await scenario.runner.run(scenario.agent, [
      ...first.history,
      { role: 'user', content: 'And now?' },
    ])
    expect(second.finalOutput).toBe(text)
    expect(scenario.acme.requests[1]?.body.messages).toEqual(conversation)
  })

  test('with previous_response_id', async () => {
    await using scenario = await startWithAgent(jsonReply(thoughtful))
    const first = await scenario.runner.run(scenario.agent, 'How high is it?')
    const previousResponseId = first.lastResponseId!
    expect(previousResponseId).toStartWith('resp_')
    await scenario.runner.run(scenario.agent, 'And now?', { previousResponseId })
    const [instructions, ...rest] = conversation
    expect(scenario.acme.requests[1]?.body.messages).toEqual([instructions!, ...rest])
  })

  test('with streams', async () => {
    await using scenario = await startWithAgent(streamReply(thoughtful))
    const first = await scenario.runner.run(scenario.agent, 'How high is it?', { stream: true })
    const pieces = await Array.fromAsync(first.toTextStream())
    await first.completed
    expect(pieces.map(String)).toEqual(['It is ', 'four metres.'])
    const previousResponseId = first.lastResponseId!
    const second = await scenario.runner.run(scenario.agent, 'And now?', { stream: true, previousResponseId })
    await Array.fromAsync(second)
    expect(second.finalOutput).toBe(text)
    expect(scenario.acme.requests[1]?.body.messages).toEqual(conversation)
  })
})

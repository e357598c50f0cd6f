import { describe, expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

async function ask(kind: string, model: string, body: object) {
  const options = { acme: { kind }, model: { routes: [{ provider: 'acme', model }] } }
  await using scenario = await startScenario(jsonReply(), options)
  const response = await scenario.app.chat({ ...chatRequest, stop: ['END'], ...body })
  return { completion: await readCompletion(response), sent: scenario.acme.requests[0]?.body }
}

describe('a stop sequence', () => {
  test.each([
    ['openai', 'gpt-5', {}],
    ['openai', 'gpt-5-mini-2025-08-07', {}],
    ['openai', 'gpt-5.1', {}],
    ['openai', 'gpt-5.1', { reasoning_effort: 'none' }],
    ['openai', 'o3', {}],
    ['openai', 'o4-mini', {}],
    ['azure', 'gpt-5.2', {}],
  ])(
    'is ignored with a warning for a model of OpenAI that rejects it: %s %s %j',
    async (kind, model, body) => {
      const { completion, sent } = await ask(kind, model, body)
      const warning = `Parameter \`stop\` is not supported by ${model} and was ignored.`
      expect(completion).toMatchObject({ object: 'chat.completion', warnings: [warning] })
      expect(sent).not.toHaveProperty('stop')
    },
  )

  test.each([
    ['openai', 'gpt-4.1'],
    ['openai', 'gpt-5-chat-latest'],
    ['openai', 'o3-mini'],
    ['openai-compatible', 'gpt-5'],
  ])('is sent to any other model: %s %s', async (kind, model) => {
    const { completion, sent } = await ask(kind, model, {})
    expect(completion).not.toHaveProperty('warnings')
    expect(sent).toHaveProperty('stop', ['END'])
  })
})

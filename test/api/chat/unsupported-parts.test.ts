import { expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
const unknown = { type: 'hologram', data: 'UklGRg==' }
const responses = { routes: [{ provider: 'acme', model: 'river-1', api: 'responses' as const }] }

test.each([
  ['Anthropic', { acme: { kind: 'anthropic' } }, audio],
  ['the Responses API', { acme: { kind: 'openai' }, model: responses }, audio],
  ['Gemini', { acme: { kind: 'gemini' } }, unknown],
] as const)('%s is not sent a user message of which nothing is left', async (_, options, part) => {
  await using scenario = await startScenario([], options)
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: [part] },
  ]
  const reply = await scenario.app.chat({ ...chatRequest, messages })
  expect(await readError(reply)).toMatchObject({
    status: 400,
    code: 'unsupported_value',
    message: expect.stringContaining(part.type),
  })
  expect(scenario.acme.requests).toEqual([])
})

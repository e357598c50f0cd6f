import { expect, test } from 'bun:test'
import type { Fields } from '../../../src/lib/json/json.ts'
import { fixtureReply } from '../../support/messages.ts'
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

const url = 'https://example.com/rivers.pdf'
const filesByUrl: readonly (readonly [string, Fields])[] = [
  [
    '/v1/responses',
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_url: url },
            { type: 'input_text', text: 'Hi' },
          ],
        },
      ],
    },
  ],
  [
    '/v1/chat/completions',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { file_data: url } },
            { type: 'text', text: 'Hi' },
          ],
        },
      ],
    },
  ],
]

test.each(filesByUrl)(
  'a file by URL in %s is ignored at Gemini, and the warning says so',
  async (path, body) => {
    await using scenario = await startScenario(fixtureReply('gemini', 'text', false), {
      acme: { kind: 'gemini' },
    })
    const reply = await scenario.app.request(path, { body: { model: chatRequest.model, ...body } })
    const { warnings } = (await reply.json()) as Fields
    expect(warnings).toEqual([
      'Files by URL are not supported by gemini and were ignored: send their bytes as a data URL.',
    ])
    const { contents } = (await scenario.acme.request(0)).body
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'Hi' }] }])
  },
)

test('what the caller names a part is short in the error, and is not in the log', async () => {
  await using scenario = await startScenario([], { acme: { kind: 'anthropic' } })
  const type = 'secret'.repeat(1000)
  const reply = await scenario.app.chat({ ...chatRequest, messages: [{ role: 'user', content: [{ type }] }] })
  const { message } = await readError(reply)
  expect(message.length).toBeLessThan(150)
  expect(message).toContain('secret')
  await scenario.app.requestLines.of(reply)
  expect(scenario.app.requestLines.all.join('')).not.toContain('secret')
})

import { describe, expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'
import { storedPath } from '../../support/stored-completions.ts'

const enabled = { compatibility: { logprobs: true } }
const request = { ...chatRequest, logprobs: true, top_logprobs: 1 }

/** The log probabilities of one token, as a provider sends them. */
function tokenOf(token: string) {
  const entry = { token, logprob: -0.25, bytes: [...Buffer.from(token)] }
  return { ...entry, top_logprobs: [entry] }
}

const it = tokenOf('It')
const is = tokenOf(' is')
const content = [it, is]

const reply = json({
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'It is' },
      logprobs: { content, refusal: null },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})

function chunk(delta: object, fields: object = {}): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...fields }] })}\n\n`
}

const stream = events([
  chunk({ role: 'assistant', content: '' }, { logprobs: { content: [], refusal: null } }),
  chunk({ content: 'It' }, { logprobs: { content: [it], refusal: null } }),
  chunk({ content: ' is' }, { logprobs: { content: [is] } }),
  chunk({}, { finish_reason: 'stop', logprobs: null }),
  'data: [DONE]\n\n',
])

describe('with compatibility.logprobs, log probabilities', () => {
  test('are requested from the provider and returned with the choice', async () => {
    await using scenario = await startScenario(reply, { settings: enabled })
    const { choices, warnings } = await readCompletion(await scenario.app.chat(request))
    expect(choices[0]?.logprobs).toEqual({ content, refusal: null })
    expect(warnings).toBeUndefined()
    expect(scenario.acme.requests[0]?.body).toMatchObject({ logprobs: true, top_logprobs: 1 })
  })

  test('are streamed in the chunk of their text', async () => {
    await using scenario = await startScenario(stream, { settings: enabled })
    const { chunks, done } = await readStreamed(await scenario.app.chat({ ...request, stream: true }))
    expect(done).toBe(true)
    const choices = chunks.flatMap(({ choices }) => choices)
    expect(choices.map(({ delta, logprobs }) => [delta.content, logprobs])).toEqual([
      ['', undefined],
      ['It', { content: [it], refusal: null }],
      [' is', { content: [is], refusal: null }],
      [undefined, undefined],
    ])
  })

  test.each([
    ['not streamed', reply, false],
    ['streamed', stream, true],
  ])('are part of a stored completion that was %s', async (_, script, streamed) => {
    await using scenario = await startScenario(script, { settings: enabled })
    const response = await scenario.app.chat({ ...request, stream: streamed, store: true })
    const text = await response.text()
    const [id = ''] = /chatcmpl-\w+/.exec(text) ?? []
    const stored = await readCompletion(await scenario.app.request(`${storedPath}/${id}`))
    expect(stored.choices[0]?.logprobs).toEqual({ content, refusal: null })
  })

  test('are null where the client does not request them, even if the provider sends them', async () => {
    await using scenario = await startScenario([reply, stream], { settings: enabled })
    const { choices } = await readCompletion(await scenario.app.chat(chatRequest))
    expect(choices[0]?.logprobs).toBeNull()
    const streamed = await readStreamed(await scenario.app.chat({ ...chatRequest, stream: true }))
    expect(streamed.text).not.toContain('logprob')
    for (const { body } of scenario.acme.requests) expect(body).not.toHaveProperty('logprobs')
  })

  test('are null where the provider sends none', async () => {
    const plain = json({ choices: [{ index: 0, message: { content: 'It is' }, finish_reason: 'stop' }] })
    await using scenario = await startScenario(plain, { settings: enabled })
    expect((await readCompletion(await scenario.app.chat(request))).choices[0]?.logprobs).toBeNull()
  })

  test.each([
    ['mistral', 'openai-chat', reply],
    ['groq', 'openai-chat', reply],
    [
      'anthropic',
      'anthropic',
      json({ type: 'message', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }),
    ],
    [
      'gemini',
      'gemini',
      json({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
    ],
  ])('are ignored with a warning by %s', async (kind, _, script) => {
    await using scenario = await startScenario(script, { settings: enabled, provider: { kind } })
    const { warnings } = await readCompletion(await scenario.app.chat(request))
    expect(warnings?.join('\n')).toMatch(/`logprobs`.* (is|are) not supported by .* ignored/)
    expect(scenario.acme.requests[0]?.text).not.toContain('logprobs')
  })

  test('are ignored with a warning by the built-in model', async () => {
    await using app = await startApp({ settings: enabled })
    const echo = { ...request, model: 'weir/echo' }
    const warning = 'Parameter `logprobs` is not supported by echo and was ignored.'
    const { choices, warnings } = await readCompletion(await app.chat(echo))
    expect([choices[0]?.logprobs, warnings]).toEqual([null, [warning]])
    const streamed = await readStreamed(await app.chat({ ...echo, stream: true }))
    expect(streamed.chunks.flatMap(({ warnings }) => warnings ?? [])).toEqual([warning])
    const plain = await readCompletion(await app.chat({ ...echo, logprobs: false, top_logprobs: null }))
    expect(plain.warnings).toBeUndefined()
  })

  test('of alternatives alone are a 400', async () => {
    await using scenario = await startScenario(reply, { settings: enabled })
    const error = await readError(await scenario.app.chat({ ...chatRequest, top_logprobs: 2 }))
    expect(error).toMatchObject({ status: 400, param: 'top_logprobs', code: 'invalid_value' })
  })
})

test('without compatibility.logprobs, log probabilities are neither requested nor returned, with a warning', async () => {
  await using scenario = await startScenario([reply, stream])
  const { choices, warnings } = await readCompletion(await scenario.app.chat(request))
  expect(choices[0]?.logprobs).toBeNull()
  expect(warnings).toEqual(['Log probabilities are not supported; `logprobs` is null in every choice.'])
  const streamed = await readStreamed(await scenario.app.chat({ ...request, stream: true }))
  expect(streamed.chunks.flatMap(({ choices }) => choices).some((choice) => 'logprobs' in choice)).toBe(false)
  for (const { body } of scenario.acme.requests) expect(body).not.toHaveProperty('logprobs')
})

import { expect, test } from 'bun:test'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const responses = { routes: [{ provider: 'acme', model: 'river-1', api: 'responses' as const }] }
const text = "I can't help with that."

/** The turn of the model, as each protocol has it in its request. */
const protocols: readonly (readonly [name: string, options: ScenarioOptions, field: string, turn: object])[] =
  [
    ['chat completions', {}, 'messages', { role: 'assistant', content: text }],
    [
      'Anthropic',
      { acme: { kind: 'anthropic' } },
      'messages',
      { role: 'assistant', content: [{ type: 'text', text }] },
    ],
    ['Gemini', { acme: { kind: 'gemini' } }, 'contents', { role: 'model', parts: [{ text }] }],
    [
      'the Responses API',
      { acme: { kind: 'openai' }, model: responses },
      'input',
      { role: 'assistant', content: text },
    ],
  ]

const forms = [
  ['null', null],
  ['no', undefined],
  ['an empty', ''],
] as const

const cases = protocols.flatMap(([name, ...protocol]) =>
  forms.map(([form, content]) => [name, form, content, ...protocol] as const),
)

test.each(cases)(
  'an earlier refusal reaches %s as the text of the model: with %s content',
  async (_name, _form, content, options, field, turn) => {
    await using scenario = await startScenario(json({}, { status: 500 }), options)
    const refused = { role: 'assistant', content, refusal: text }
    const messages = [...chatRequest.messages, refused, { role: 'user', content: 'And now?' }]
    await scenario.app.chat({ ...chatRequest, messages })
    const [request] = scenario.acme.requests
    const turns = request?.body[field] as readonly object[]
    expect(turns).toHaveLength(3)
    expect(turns[1]).toEqual(turn)
  },
)

test('a refusal follows the text of its message', async () => {
  await using scenario = await startScenario(json({}, { status: 500 }), { acme: { kind: 'anthropic' } })
  const refused = { role: 'assistant', content: 'Let me see.', refusal: text }
  const messages = [...chatRequest.messages, refused, { role: 'user', content: 'And now?' }]
  await scenario.app.chat({ ...chatRequest, messages })
  const turns = scenario.acme.requests[0]?.body.messages as readonly object[]
  const content = [
    { type: 'text', text: 'Let me see.' },
    { type: 'text', text },
  ]
  expect(turns[1]).toEqual({ role: 'assistant', content })
})

import { describe, expect, test } from 'bun:test'
import type { Generation, Message, Part } from '../../../../src/domain/generation/request.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import type { Target } from '../../../../src/providers/protocols/protocol.ts'
import { exampleGeneration, plainGeneration } from './support/generations.ts'

type Body = Record<string, unknown> & { readonly input: readonly Record<string, unknown>[] }

function render(generation: Partial<Generation>, target: Partial<Target> = {}) {
  const warnings: string[] = []
  const requested = { model: 'example-model', stream: false, ...target }
  const body = responses.render({ ...plainGeneration, ...generation }, requested, (text) =>
    warnings.push(text),
  )
  return { body: JSON.parse(JSON.stringify(body)) as Body, warnings }
}

const text = (text: string): Part => ({ type: 'text', text })
const inputOf = (...messages: Message[]) => render({ messages }).body.input

describe('a Responses request', () => {
  test('is stateless, and has only the input for a plain prompt', () => {
    const input = [{ role: 'user', content: 'How high is the river?' }]
    expect(render({})).toEqual({ body: { model: 'example-model', input, store: false }, warnings: [] })
    expect(render({}, { stream: true }).body).toEqual({
      model: 'example-model',
      input,
      store: false,
      stream: true,
    })
  })

  test('has the parameters under its own names', () => {
    const { body, warnings } = render({
      maxTokens: 400,
      temperature: 0.5,
      topP: 0.9,
      serviceTier: 'priority',
      user: 'user-1',
      format: { type: 'json_object' },
    })
    const { input: _, model: _model, store: _store, ...rest } = body
    expect(rest).toEqual({
      max_output_tokens: 400,
      temperature: 0.5,
      top_p: 0.9,
      service_tier: 'priority',
      user: 'user-1',
      text: { format: { type: 'json_object' } },
    })
    expect(warnings).toEqual([])
  })

  test('has flat tools, which are strict only where the client requests it', () => {
    const { body } = render({
      tools: [...exampleGeneration.tools, { name: 'ring', strict: true }],
      toolChoice: { name: 'ring' },
      parallelToolCalls: false,
    })
    expect(body.tools).toEqual([
      { type: 'function', ...exampleGeneration.tools[0], strict: false },
      {
        type: 'function',
        name: 'ring',
        strict: true,
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      },
    ])
    expect(body).toMatchObject({
      tool_choice: { type: 'function', name: 'ring' },
      parallel_tool_calls: false,
    })
  })

  test('has no tool parameters without tools', () => {
    const { body } = render({ toolChoice: 'required', parallelToolCalls: false }, { model: 'gpt-5' })
    expect(Object.keys(body)).toEqual(['model', 'input', 'store'])
  })

  test('has a flat schema, strict only where the client requests it', () => {
    const format = { type: 'json_schema', name: 'gate', schema: { type: 'object' } } as const
    expect(render({ format }).body.text).toEqual({ format: { ...format, strict: false } })
    const strict = { ...format, strict: true }
    expect(render({ format: strict }).body.text).toEqual({ format: strict })
    expect(render({ format: { type: 'text' } }).body.text).toBeUndefined()
  })

  test('passes on the properties that the API knows and names the others in one warning', () => {
    const extras = {
      prompt_cache_key: 'k',
      safety_identifier: 's',
      verbosity: 'low',
      top_k: 4,
      min_p: 0,
      x: null,
    }
    const { body, warnings } = render({ extras: { ...extras, model: 'other', store: true, input: 'x' } })
    expect(body).toMatchObject({ prompt_cache_key: 'k', safety_identifier: 's', text: { verbosity: 'low' } })
    expect(body).toMatchObject({ model: 'example-model', store: false, input: [{ role: 'user' }] })
    expect(body).not.toHaveProperty('top_k')
    expect(warnings).toEqual([
      'Parameters `top_k`, `min_p`, `model`, `store` and `input` are not supported by the Responses API and were ignored.',
    ])
  })

  test('omits what the API does not support, with a warning', () => {
    const { body, warnings } = render({
      choices: 2,
      stop: ['END'],
      seed: 7,
      frequencyPenalty: 1,
      presencePenalty: -1,
      logitBias: { '42': 3 },
    })
    expect(Object.keys(body)).toEqual(['model', 'input', 'store'])
    const names = ['n', 'stop', 'seed', 'frequency_penalty', 'presence_penalty', 'logit_bias']
    expect(warnings).toEqual([
      'Parameters `n`, `stop`, `seed`, `frequency_penalty`, `presence_penalty` and `logit_bias` are not supported by the Responses API and were ignored.',
    ])
    for (const name of names) expect([...responses.parameters]).not.toContain(name)
  })

  test('has no warning for default values', () => {
    const neutral = { choices: 1, stop: [], frequencyPenalty: 0, presencePenalty: 0, logitBias: {} }
    expect(render(neutral).warnings).toEqual([])
  })

  test('raises a limit that OpenAI would reject', () => {
    const { body, warnings } = render({ maxTokens: 1 })
    expect(body.max_output_tokens).toBe(16)
    expect(warnings).toHaveLength(1)
    expect(render({ maxTokens: 16 })).toMatchObject({ body: { max_output_tokens: 16 }, warnings: [] })
  })
})

describe('the input of a Responses request', () => {
  test('keeps instructions in their place and with their role', () => {
    const input = inputOf(
      { role: 'developer', parts: [text('Be brief.')] },
      { role: 'user', parts: [text('Hi')] },
      { role: 'system', parts: [text('Be kind.'), text('Be quick.')] },
    )
    expect(input).toEqual([
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'system',
        content: [
          { type: 'input_text', text: 'Be kind.' },
          { type: 'input_text', text: 'Be quick.' },
        ],
      },
    ])
  })

  test('has assistant messages as output, refusals too', () => {
    const refusal: Part = { type: 'foreign', value: { type: 'refusal', refusal: 'No.' } }
    expect(inputOf({ role: 'assistant', parts: [text('Well,'), refusal], toolCalls: [] })).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'Well,' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ])
  })

  test('has images and files by data and by URL', () => {
    const image: Part = { type: 'image', url: 'https://example.test/a.png', detail: 'low' }
    const file = (file: object): Part => ({ type: 'foreign', value: { type: 'file', file } })
    const data = 'data:application/pdf;base64,QUJD'
    const parts: Part[] = [
      image,
      { type: 'image', url: 'data:image/png;base64,QUJD' },
      file({ file_data: data, filename: 'a.pdf' }),
      file({ file_data: data }),
      file({ file_data: 'https://example.test/a.pdf' }),
    ]
    expect(inputOf({ role: 'user', parts })[0]?.content).toEqual([
      { type: 'input_image', image_url: 'https://example.test/a.png', detail: 'low' },
      { type: 'input_image', image_url: 'data:image/png;base64,QUJD', detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: data },
      { type: 'input_file', filename: 'file.pdf', file_data: data },
      { type: 'input_file', file_url: 'https://example.test/a.pdf' },
    ])
  })

  test('ignores other parts, names and unknown properties with a warning for each kind', () => {
    const audio: Part = { type: 'foreign', value: { type: 'input_audio', input_audio: {} } }
    const output = { ...text('Hi'), extras: { cache_control: {} } } as Part
    const messages: Message[] = [
      { role: 'user', name: 'ada', parts: [audio, output, audio] },
      { role: 'assistant', parts: [text('Ho')], toolCalls: [], extras: { refusal: null, annotations: [] } },
    ]
    const { body, warnings } = render({ messages: [...messages, ...messages] })
    expect(body.input.slice(0, 2)).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { role: 'assistant', content: 'Ho' },
    ])
    expect(warnings).toEqual([
      'Properties `messages[].name` and `messages[].annotations` are not supported by the Responses API and were ignored.',
      'Property `messages[].content[].cache_control` is not supported by the Responses API and was ignored.',
      'Content part type `input_audio` is not supported by the Responses API and was ignored.',
    ])
  })
})

import { describe, expect, test } from 'bun:test'
import type { Generation } from '../../../../src/domain/generation/request.ts'
import type { Target } from '../../../../src/providers/protocols/protocol.ts'
import { protocolNamed } from './support/chunks.ts'
import { exampleGeneration, plainGeneration } from './support/generations.ts'

type Body = Record<string, unknown> & { messages: Record<string, unknown>[] }

function render(kind: string, generation: Partial<Generation>, target: Partial<Target> = {}) {
  const warnings: string[] = []
  const requested = { model: 'example-model', stream: false, ...target }
  const body = protocolNamed(kind).render({ ...plainGeneration, ...generation }, requested, (text) =>
    warnings.push(text),
  )
  return { body: JSON.parse(JSON.stringify(body)) as Body, warnings }
}

const messagesOf = (kind: string) => render(kind, exampleGeneration).body.messages

describe('a chat completions request', () => {
  test('has only the model and the messages for a plain prompt', () => {
    const messages = [{ role: 'user', content: 'How high is the river?' }]
    expect(render('vllm', {}).body).toEqual({ model: 'example-model', messages })
  })

  test('requests the usage of a stream, except at Mistral, which always sends it', () => {
    const options = { stream: true, stream_options: { include_usage: true } }
    expect(render('vllm', {}, { stream: true }).body).toMatchObject(options)
    expect(render('mistral', {}, { stream: true }).body.stream_options).toBeUndefined()
    expect(render('vllm', {}).body.stream_options).toBeUndefined()
  })

  test('names a file without a name after its type, and changes no other file', () => {
    const contentOf = (file: object) => {
      const parts = [{ type: 'foreign' as const, value: { type: 'file', file } }]
      return render('openai', { messages: [{ role: 'user', parts }] }).body.messages[0]?.content
    }
    const data = 'data:application/pdf;base64,QUJD'
    const unnamed = { file_data: data }
    expect(contentOf(unnamed)).toEqual([{ type: 'file', file: { ...unnamed, filename: 'file.pdf' } }])
    for (const file of [{ file_data: data, filename: 'a.pdf' }, { file_data: 'https://a/b.pdf' }])
      expect(contentOf(file)).toEqual([{ type: 'file', file }])
  })

  test('has no tool parameters without tools', () => {
    const { body } = render('openai', { toolChoice: 'required', parallelToolCalls: false })
    expect(Object.keys(body)).toEqual(['model', 'messages'])
  })

  test('passes unknown properties on, which replace nothing', () => {
    const extras = { top_k: 4, model: 'another', messages: [], stop: 'x' }
    const { body, warnings } = render('vllm', { extras, stop: ['END'] })
    expect(body).toMatchObject({ top_k: 4, model: 'example-model', stop: ['END'] })
    expect(body.messages).toHaveLength(1)
    expect(warnings).toEqual([
      'Parameters `model`, `messages` and `stop` are not supported and were ignored.',
    ])
  })

  test('is an exact list of fields at Mistral, with a warning for each ignored one', () => {
    const { body, warnings } = render('mistral', {
      extras: { top_k: 4, safe_prompt: true },
      user: 'u',
      seed: 3,
      choices: 2,
    })
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model', 'random_seed', 'safe_prompt'])
    expect(warnings).toEqual([
      'Parameters `top_k`, `n` and `user` are not supported by mistral and were ignored.',
    ])
  })

  test.each([
    ['openai', 'max_completion_tokens', 'max_tokens'],
    ['azure', 'max_completion_tokens', 'max_tokens'],
    ['groq', 'max_tokens', 'max_completion_tokens'],
    ['mistral', 'max_tokens', 'max_completion_tokens'],
  ])('to %s has the limit as %s', (kind, sent, missing) => {
    const { body } = render(kind, { maxTokens: 9 })
    expect(body[sent]).toBe(9)
    expect(body[missing]).toBeUndefined()
  })

  test.each([
    ['openai', 'developer'],
    ['mistral', 'system'],
    ['deepseek', 'system'],
  ])('to %s has the instructions with the role %s', (kind, role) => {
    expect(messagesOf(kind)[0]?.role).toBe(role)
  })

  test('has no names of messages at Groq, with one warning', () => {
    const messages = [...exampleGeneration.messages, ...exampleGeneration.messages]
    const { body, warnings } = render('groq', { messages })
    expect(body.messages.some((message) => 'name' in message)).toBe(false)
    expect(warnings).toEqual(['Property `messages[].name` is not supported by groq and was ignored.'])
    expect(messagesOf('openai')[1]?.name).toBe('ada')
  })

  test('has tool ids of nine letters at Mistral, the same for the call and its result', () => {
    const [, , output, result] = messagesOf('mistral') as {
      tool_calls?: { id: string }[]
      tool_call_id?: string
    }[]
    expect(output?.tool_calls?.[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(result?.tool_call_id).toBe(output?.tool_calls?.[0]?.id)
  })

  test('keeps foreign parts and the fields of a part unchanged', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }
    const cached = { type: 'text', text: 'a', extras: { cache_control: { type: 'ephemeral' } } } as const
    const { body } = render('openai', {
      messages: [{ role: 'user', parts: [cached, { type: 'foreign', value: audio }] }],
    })
    const text = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }
    expect(body.messages[0]?.content).toEqual([text, audio])
  })

  test('describes a schema to DeepSeek in words', () => {
    const format = { type: 'json_schema', name: 'gate', schema: { type: 'object', title: 'Sluice' } } as const
    const { body, warnings } = render('deepseek', { format })
    expect(body.response_format).toEqual({ type: 'json_object' })
    expect(JSON.stringify(body.messages[0])).toContain('Sluice')
    expect(warnings).toHaveLength(1)
    expect(render('openai', { format }).body.response_format).toMatchObject({ json_schema: { name: 'gate' } })
  })

  test('lowers a temperature above the maximum of Mistral and forces a tool with its keyword', () => {
    const { body, warnings } = render('mistral', {
      temperature: 2,
      tools: exampleGeneration.tools,
      toolChoice: 'required',
    })
    expect(body).toMatchObject({ temperature: 1.5, tool_choice: 'any' })
    expect(warnings).toHaveLength(1)
  })
})

describe('sampling parameters', () => {
  const sampling = { temperature: 0.5, topP: 1, presencePenalty: 0 }

  test.each<[string, Generation['effort'], boolean]>([
    ['gpt-5-mini', undefined, false],
    ['o3-mini', undefined, false],
    ['gpt-5.1', undefined, true],
    ['gpt-5.1', 'low', false],
    ['gpt-5.6', undefined, false],
    ['gpt-5.6', 'none', true],
    ['gpt-6-luna', undefined, false],
    ['gpt-6-luna', 'none', true],
    ['gpt-5-chat-latest', undefined, true],
    ['gpt-4o', undefined, true],
  ])('of %s with effort %p are sent: %p', (model, effort, sent) => {
    const { body, warnings } = render('openai', { ...sampling, effort }, { model })
    expect('temperature' in body).toBe(sent)
    expect('top_p' in body).toBe(sent)
    expect(warnings).toEqual(
      sent ? [] : [`Parameter \`temperature\` is not supported by ${model} and was ignored.`],
    )
  })

  test('are omitted for reasoning models of xAI only where those reject them', () => {
    const { body } = render(
      'xai',
      { temperature: 0.5, stop: ['END'], frequencyPenalty: 1 },
      { model: 'grok-4' },
    )
    expect(Object.keys(body)).toEqual(['model', 'messages', 'temperature'])
    expect(render('xai', { stop: ['END'] }, { model: 'grok-4-fast-non-reasoning' }).body.stop).toEqual([
      'END',
    ])
  })

  test('that a kind does not support are not among its parameters', () => {
    expect(protocolNamed('groq').parameters.has('logit_bias')).toBe(false)
    expect(protocolNamed('groq').parameters.has('seed')).toBe(true)
    expect(protocolNamed('mistral').parameters.has('seed')).toBe(true)
    expect(protocolNamed('mistral').parameters.has('n')).toBe(false)
    expect(protocolNamed('openai').parameters.size).toBe(14)
  })
})

describe('a reasoning effort', () => {
  test.each<[string, string, NonNullable<Generation['effort']>, object]>([
    ['openai', 'gpt-5', 'minimal', { reasoning_effort: 'minimal' }],
    ['openrouter', 'x', 'high', { reasoning: { effort: 'high' } }],
    ['openrouter', 'x', 'max', { reasoning: { effort: 'xhigh' } }],
    ['openrouter', 'x', 'none', { reasoning: { enabled: false } }],
    ['groq', 'openai/gpt-oss-20b', 'minimal', { reasoning_effort: 'low' }],
    ['groq', 'qwen/qwen3-32b', 'high', { reasoning_effort: 'default', reasoning_format: 'parsed' }],
    ['mistral', 'x', 'low', { reasoning_effort: 'high' }],
    ['deepseek', 'x', 'none', { thinking: { type: 'disabled' } }],
    ['deepseek', 'x', 'high', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['zai', 'x', 'low', { thinking: { type: 'enabled' } }],
    ['xai', 'grok-3-mini', 'medium', { reasoning_effort: 'high' }],
    ['xai', 'grok-4.3', 'none', { reasoning_effort: 'none' }],
    ['xai', 'grok-4.5', 'none', { reasoning_effort: 'low' }],
  ])('is rendered for %s with the model %s at %s', (kind, model, effort, expected) => {
    const { messages: _, model: _model, ...rest } = render(kind, { effort }, { model }).body
    expect(rest).toEqual({ ...expected })
  })

  test.each([
    [['none', 'medium'], {}],
    [['none', 'low', 'high'], { reasoning_effort: 'low' }],
  ] as const)('is sent to a model of Z.ai that has more than one level: %p', (efforts, field) => {
    const { body } = render('zai', { effort: 'low' }, { model: 'glm-9', efforts })
    expect(body).toMatchObject({ thinking: { type: 'enabled' }, ...field })
    expect('reasoning_effort' in body).toBe('reasoning_effort' in field)
  })

  test('is ignored with a warning where the model has none', () => {
    const { body, warnings } = render('xai', { effort: 'low' }, { model: 'grok-4' })
    expect(body.reasoning_effort).toBeUndefined()
    expect(warnings).toEqual(['Parameter `reasoning_effort` is not supported by grok-4 and was ignored.'])
  })
})

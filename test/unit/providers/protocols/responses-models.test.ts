import { describe, expect, test } from 'bun:test'
import type { Effort, Generation } from '../../../../src/domain/generation/request.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import type { Target } from '../../../../src/providers/protocols/protocol.ts'
import { exampleGeneration, plainGeneration } from './support/generations.ts'

function render(model: string, generation: Partial<Generation>, target: Partial<Target> = {}) {
  const warnings: string[] = []
  const requested = { model, stream: false, ...target }
  const body = responses.render({ ...plainGeneration, ...generation }, requested, (text) =>
    warnings.push(text),
  )
  return { body, warnings }
}

describe('a reasoning effort at the Responses API', () => {
  test.each<[string, Effort, object]>([
    ['gpt-5.6', 'max', { effort: 'max', summary: 'auto' }],
    ['gpt-5.1', 'none', { effort: 'none' }],
    ['deepseek-v4-flash', 'medium', { effort: 'medium', summary: 'auto' }],
    ['openai.gpt-oss-20b', 'minimal', { effort: 'low', summary: 'auto' }],
    ['grok-4.3', 'none', { effort: 'none' }],
    ['grok-4.5', 'none', { effort: 'low', summary: 'auto' }],
    ['grok-4.3', 'xhigh', { effort: 'high', summary: 'auto' }],
    ['grok-3-mini', 'medium', { effort: 'high', summary: 'auto' }],
  ])('is rendered for %s at %s', (model, effort, reasoning) => {
    expect(render(model, { effort })).toMatchObject({ body: { reasoning }, warnings: [] })
  })

  test('is the requested one where the catalog knows the efforts of the model', () => {
    const { body } = render('grok-4.5', { effort: 'xhigh' }, { efforts: ['low', 'xhigh'] })
    expect(body.reasoning).toEqual({ effort: 'xhigh', summary: 'auto' })
  })

  test('is ignored with a warning where the model has none', () => {
    const { body, warnings } = render('grok-4-0709', { effort: 'low' })
    expect(body).not.toHaveProperty('reasoning')
    expect(warnings).toEqual([
      'Parameter `reasoning_effort` is not supported by grok-4-0709 and was ignored.',
    ])
  })

  test.each(['gpt-4.1', 'gpt-4o-mini', 'chatgpt-4o-latest'])(
    'is ignored for %s, which never reasons',
    (model) => {
      expect(render(model, { effort: 'high' }).body).not.toHaveProperty('reasoning')
    },
  )

  test('that was not requested sends no reasoning field, not even for a summary', () => {
    expect(render('gpt-5', {}).body).not.toHaveProperty('reasoning')
  })
})

describe('encrypted reasoning', () => {
  test.each([
    ['gpt-5-nano', true],
    ['openai/gpt-5.4', true],
    ['gpt-6-luna', true],
    ['o4-mini', true],
    ['grok-4.3', true],
    ['gpt-4o', false],
    ['gpt-5-chat-latest', false],
    ['grok-4-fast-non-reasoning', false],
    ['openai.gpt-oss-20b', false],
    ['my-deployment', false],
  ])('is requested of %s in a tool loop: %p', (model, requested) => {
    const { body } = render(model, { tools: exampleGeneration.tools })
    expect(body.include).toEqual(requested ? ['reasoning.encrypted_content'] : undefined)
  })

  test('is not requested without tools', () => {
    expect(render('gpt-5', {}).body).not.toHaveProperty('include')
  })
})

describe('sampling parameters at the Responses API', () => {
  test.each<[string, Effort | undefined, boolean]>([
    ['gpt-5-mini', undefined, false],
    ['openai/gpt-5', undefined, false],
    ['gpt-5.1', undefined, true],
    ['gpt-5.1', 'low', false],
    ['gpt-6-sol', undefined, false],
    ['gpt-4o', undefined, true],
    ['grok-4.3', 'low', true],
  ])('of %s with effort %p is sent: %p', (model, effort, sent) => {
    const { body, warnings } = render(model, { temperature: 0.5, topP: 1, effort })
    expect('temperature' in body).toBe(sent)
    expect('top_p' in body).toBe(sent)
    expect(warnings).toEqual(
      sent ? [] : [`Parameter \`temperature\` is not supported by ${model} and was ignored.`],
    )
  })
})

import { describe, expect, test } from 'bun:test'
import { importYaml, oneModel } from './support/import-yaml.ts'

const vllm = '{ model: hosted_vllm/BAAI/bge-m3, api_base: "http://gpu:8000/v1" }'

describe('a LiteLLM model that is not for conversations', () => {
  test.each([
    ['by its mode', vllm, '{ mode: embedding }', ['embeddings']],
    ['by its name', '{ model: ollama/nomic-embed-text }', '{}', ['embeddings']],
    [
      'of completions by its mode',
      '{ model: hosted_vllm/coder, api_base: "http://gpu:8000/v1" }',
      '{ mode: completion }',
      ['completions'],
    ],
    ['of completions by its prefix', '{ model: text-completion-openai/babbage-002 }', '{}', ['completions']],
    [
      'of the catalog, whose APIs are not repeated',
      '{ model: openai/text-embedding-3-small }',
      '{}',
      undefined,
    ],
    [
      'whose name looks like one, with the mode chat',
      '{ model: ollama/embed-chat }',
      '{ mode: chat }',
      undefined,
    ],
  ])('%s', (_, params, info, apis) => {
    const { settings } = importYaml(oneModel(params, 'chat', info))
    expect(settings.models).toHaveLength(1)
    expect<unknown>(settings.models?.[0]?.supported_apis).toEqual(apis)
  })

  test('keeps its names, prices and prompt limit, and has no output limit', () => {
    const facts = 'max_tokens: 8192, max_input_tokens: 8192, output_vector_size: 1024, supports_vision: false'
    const info = `{ mode: embedding, input_cost_per_token: 0.00000001, ${facts} }`
    const { settings, notes } = importYaml(oneModel(vllm, 'bge', info))
    expect(notes).toEqual([])
    expect(settings.models).toEqual([
      {
        slug: 'vllm/bge',
        context_window: 8192,
        pricing: { input: 0.01 },
        supported_apis: ['embeddings'],
        input_modalities: ['text'],
        aliases: ['bge'],
        routes: [{ provider: 'vllm', model: 'BAAI/bge-m3' }],
      },
    ])
  })

  test('takes what the catalog has about the model that base_model names', () => {
    const azure = '{ model: azure/mine, api_base: "https://x.openai.azure.com" }'
    const { settings } = importYaml(oneModel(azure, 'texts', '{ base_model: azure/text-embedding-3-large }'))
    expect(settings.models).toEqual([
      {
        slug: 'openai/text-embedding-3-large',
        aliases: ['texts'],
        routes: [{ provider: 'azure', model: 'mine' }],
      },
    ])
  })
})

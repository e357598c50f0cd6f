import { describe, expect, test } from 'bun:test'
import { currentModels } from '../../../../src/cli/current-models.ts'
import { exampleModel } from '../../../../src/cli/serve/banner.ts'
import { toSettings } from '../../../../src/config/defaults.ts'
import type { SettingsFile } from '../../../../src/config/settings.ts'

/** The models that are enabled with these settings and variables, without asking a provider. */
async function enabledModels(file: SettingsFile, environment: Record<string, string>) {
  const settings = toSettings(file, null)
  return (await currentModels({ settings }, { environment }, { discover: false })).enabled
}

describe('the model of the example request', () => {
  test.each(['OPENAI', 'GEMINI', 'MISTRAL', 'ANTHROPIC', 'GROQ', 'DEEPSEEK', 'XAI', 'COHERE'])(
    'answers a chat, and goes on doing so, where the key of %s is the only one',
    async (name) => {
      const enabled = await enabledModels({}, { [`${name}_API_KEY`]: 'secret' })
      const example = enabled.find(({ slug }) => slug === exampleModel(enabled))
      expect(example?.supportedApis).toContain('chat_completions')
      expect([...(example?.supportedParameters ?? [])]).toContain('tools')
      expect(example?.shutdownDate).toBeUndefined()
    },
  )

  test.each([
    ['the cheapest of those that do not end', [{ output: 3 }, { output: 2 }, { output: 1, ends: true }], 1],
    [
      'the cheapest one where all end',
      [
        { output: 2, ends: true },
        { output: 1, ends: true },
      ],
      1,
    ],
    ['one of unknown price where there is no other', [{}], 0],
  ])('is %s', async (_, models, expected) => {
    const enabled = await enabledModels(
      {
        providers: { gpu: { kind: 'vllm', base_url: 'http://127.0.0.1:1/v1' } },
        models: models.map(({ output, ends }: { output?: number; ends?: boolean }, index) => ({
          slug: `acme/m${index}`,
          ...(output !== undefined && { pricing: { input: 1, output } }),
          ...(ends && { shutdown_date: '2099-12-31' }),
          routes: [{ provider: 'gpu', model: `m${index}` }],
        })),
      },
      {},
    )
    expect(exampleModel(enabled)).toBe(`acme/m${expected}`)
  })

  test('is none where all models serve embeddings only', async () => {
    const enabled = await enabledModels(
      {
        providers: { gpu: { kind: 'vllm', base_url: 'http://127.0.0.1:1/v1' } },
        models: [
          {
            slug: 'acme/bge-m3',
            supported_apis: ['embeddings'],
            routes: [{ provider: 'gpu', model: 'bge-m3' }],
          },
        ],
      },
      {},
    )
    expect(enabled.map(({ slug }) => slug)).toEqual(['acme/bge-m3'])
    expect(exampleModel(enabled)).toBeUndefined()
  })
})

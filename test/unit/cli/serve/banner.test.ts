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
  test.each(['OPENAI_API_KEY', 'GEMINI_API_KEY', 'MISTRAL_API_KEY', 'ANTHROPIC_API_KEY'])(
    'serves chat completions where %s is the only key',
    async (name) => {
      const enabled = await enabledModels({}, { [name]: 'secret' })
      const example = enabled.find(({ slug }) => slug === exampleModel(enabled))
      expect(example?.supportedApis).toContain('chat_completions')
    },
  )

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

import type { ModelFacts } from '../../config/model-facts.ts'
import { efforts } from '../../generation/request.ts'
import type { Provider } from '../../providers/provider.ts'

/** The facts of `weir/echo`, the model that answers inside this process, where such a provider is configured. */
export function echoFacts(configured: ReadonlyMap<string, Provider>): ModelFacts[] {
  const echo = [...configured.values()].find(({ kind }) => kind.name === 'echo')
  if (!echo) return []
  return [
    {
      slug: 'weir/echo',
      display_name: 'Echo',
      author: 'weir',
      context_window: 1_000_000,
      max_output_tokens: 1_000_000,
      pricing: { input: 0, output: 0 },
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      reasoning: { supported_efforts: [...efforts], default_effort: 'none', default_enabled: false },
      routes: [{ provider: echo.name, model: 'echo' }],
    },
  ]
}

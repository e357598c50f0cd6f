import type { ModelFacts } from '../../config/model-facts.ts'
import { efforts } from '../../domain/generation/request.ts'
import type { Provider } from '../../providers/provider.ts'

/** Why the echo model is disabled while other providers are configured. */
export const echoReplaced =
  'Other providers are configured. To enable it as well, add “echo: {}” to providers in weir.yaml.'

/**
 * The facts of `weir/echo`, the model inside this process. It is listed even if no such provider is
 * configured, so that a caller learns why it is disabled.
 */
export function echoFacts(configured: ReadonlyMap<string, Provider>): ModelFacts[] {
  const echo = [...configured.values()].find(({ kind }) => kind.name === 'echo')
  // The name may belong to another provider.
  if (!echo && configured.has('echo')) return []
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
      routes: [{ provider: echo?.name ?? 'echo', model: 'echo' }],
    },
  ]
}

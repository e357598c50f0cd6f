import type { Parameter } from '../../domain/generation/parameters.ts'

/** A provider whose models are in the catalog. */
export type DirectProvider = {
  /** Its name in Weir. */
  readonly name: string
  /** Its key in the file of models.dev. */
  readonly source: string
  /** The first part of its slugs. */
  readonly author: string
  /** The parameters of its API; a model may support fewer. */
  readonly parameters: readonly Parameter[]
}

const sampling = ['temperature', 'top_p', 'max_tokens', 'stop'] as const
const common = [...sampling, 'tools', 'tool_choice', 'response_format', 'reasoning_effort'] as const
const penalties = ['frequency_penalty', 'presence_penalty'] as const
const all = [...common, ...penalties, 'n', 'seed', 'logit_bias', 'parallel_tool_calls'] as const

/** The authors of models, and the hosts of open models. */
export const directProviders: readonly DirectProvider[] = [
  direct('openai', all),
  direct('anthropic', [...common, 'parallel_tool_calls']),
  { ...direct('gemini', [...common, ...penalties, 'n', 'seed']), source: 'google', author: 'google' },
  direct('mistral', [...common, ...penalties, 'seed', 'parallel_tool_calls']),
  direct('groq', [...common, ...penalties, 'seed', 'parallel_tool_calls']),
  direct('deepseek', [...common, ...penalties]),
  direct('xai', [...common, ...penalties, 'n', 'seed', 'parallel_tool_calls']),
  { ...direct('together', [...common, ...penalties, 'n', 'seed', 'logit_bias']), source: 'togetherai' },
  { ...direct('fireworks', all), source: 'fireworks-ai' },
  direct('cerebras', [...common, 'seed']),
  direct('zai', common),
]

/** A provider with the same name everywhere. */
function direct(name: string, parameters: readonly Parameter[]): DirectProvider {
  return { name, source: name, author: name, parameters }
}

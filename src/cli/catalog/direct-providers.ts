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

const common = [
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
] as const
const penalties = ['frequency_penalty', 'presence_penalty'] as const
const all = [...common, ...penalties, 'n', 'seed', 'logit_bias', 'parallel_tool_calls'] as const

/** The authors of models, and the hosts of open models. */
export const directProviders: readonly DirectProvider[] = [
  { name: 'openai', source: 'openai', author: 'openai', parameters: all },
  {
    name: 'anthropic',
    source: 'anthropic',
    author: 'anthropic',
    parameters: [...common, 'parallel_tool_calls'],
  },
  { name: 'gemini', source: 'google', author: 'google', parameters: [...common, ...penalties, 'n', 'seed'] },
  {
    name: 'mistral',
    source: 'mistral',
    author: 'mistral',
    parameters: [...common, ...penalties, 'seed', 'parallel_tool_calls'],
  },
  {
    name: 'groq',
    source: 'groq',
    author: 'groq',
    parameters: [...common, ...penalties, 'seed', 'parallel_tool_calls'],
  },
  { name: 'deepseek', source: 'deepseek', author: 'deepseek', parameters: [...common, ...penalties] },
  {
    name: 'xai',
    source: 'xai',
    author: 'xai',
    parameters: [...common, ...penalties, 'n', 'seed', 'parallel_tool_calls'],
  },
  {
    name: 'together',
    source: 'togetherai',
    author: 'together',
    parameters: [...common, ...penalties, 'n', 'seed', 'logit_bias'],
  },
  { name: 'fireworks', source: 'fireworks-ai', author: 'fireworks', parameters: all },
  { name: 'cerebras', source: 'cerebras', author: 'cerebras', parameters: [...common, 'seed'] },
]

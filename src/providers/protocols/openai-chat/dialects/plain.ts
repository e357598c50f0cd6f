import type { Dialect } from '../dialect.ts'

/** Chat completions without a quirk, as engines and most providers speak them. */
export function plain(name: string): Dialect {
  // Google puts the signature of a thought there and refuses the next turn without it.
  return { name, echo: { on: 'call', field: 'extra_content' } }
}

/** Cerebras refuses a handful of fields. */
export const cerebras: Dialect = {
  name: 'cerebras',
  refused: new Set([
    'frequency_penalty',
    'presence_penalty',
    'logit_bias',
    'parallel_tool_calls',
    'service_tier',
  ]),
}

/** Ollama ignores what it has no use for, so that is said here. */
export const ollama: Dialect = { name: 'ollama', refused: new Set(['n', 'logit_bias']) }

/** Perplexity searches by itself and takes no tools. */
export const perplexity: Dialect = {
  name: 'perplexity',
  refused: new Set([
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'n',
    'seed',
    'logit_bias',
    'service_tier',
  ]),
  noDeveloper: true,
}

/** Snowflake never names the finish of an answer. */
export const snowflake: Dialect = { name: 'snowflake', unnamedFinish: true }

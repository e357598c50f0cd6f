import type { Dialect } from '../dialect.ts'

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

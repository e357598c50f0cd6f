import type { Dialect } from '../dialect.ts'

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

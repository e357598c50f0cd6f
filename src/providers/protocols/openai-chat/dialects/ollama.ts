import type { Dialect } from '../dialect.ts'

/** Ollama ignores what it has no use for, so that is said here. */
export const ollama: Dialect = { name: 'ollama', refused: new Set(['n', 'logit_bias']) }

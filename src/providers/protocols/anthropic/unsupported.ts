import type { Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'

const by = 'anthropic'

/** Warns of the parameters of the request that Anthropic does not support. */
export function warnUnsupported(generation: Generation, warn: Warn): void {
  const {
    choices = 1,
    seed,
    logitBias = {},
    frequencyPenalty = 0,
    presencePenalty = 0,
    logprobs,
  } = generation
  const unsupported = {
    n: choices > 1,
    seed: seed !== undefined,
    logit_bias: Object.keys(logitBias).length > 0,
    frequency_penalty: frequencyPenalty !== 0,
    presence_penalty: presencePenalty !== 0,
    logprobs: logprobs !== undefined,
  }
  for (const [name, isUsed] of Object.entries(unsupported)) if (isUsed) warn({ what: 'Parameter', name, by })
  for (const name of namesIn(generation.extras)) warn({ what: 'Parameter', name, by })
}

/** Warns of the extra properties of a message or a part; `within` is their path. */
export function warnUnsupportedProperties(within: string, extras: Fields | undefined, warn: Warn): void {
  if (extras) for (const name of namesIn(extras)) warn({ what: 'Property', name, within, by })
}

/** The names of non-empty fields: clients send messages back with the empty fields that they received. */
function namesIn(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => isNonEmpty(fields[name]))
}

function isNonEmpty(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

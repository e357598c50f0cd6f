import type { Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'

const by = 'anthropic'

/** Warns of the properties of the request that have no equal at Anthropic. */
export function tellLeftOut(generation: Generation, warn: Warn): void {
  const { choices = 1, seed, logitBias = {}, frequencyPenalty = 0, presencePenalty = 0 } = generation
  const lost = {
    n: choices > 1,
    seed: seed !== undefined,
    logit_bias: Object.keys(logitBias).length > 0,
    frequency_penalty: frequencyPenalty !== 0,
    presence_penalty: presencePenalty !== 0,
  }
  for (const [name, asked] of Object.entries(lost)) if (asked) warn({ what: 'Parameter', name, by })
  for (const name of namesIn(generation.extras)) warn({ what: 'Parameter', name, by })
}

/** Warns of the unnamed properties of a message or a part, which are at `within`. */
export function tellExtras(within: string, extras: Fields | undefined, warn: Warn): void {
  if (extras) for (const name of namesIn(extras)) warn({ what: 'Property', name, within, by })
}

/** Clients send back whole messages, with the empty fields that they came with. */
function namesIn(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => saysSomething(fields[name]))
}

function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

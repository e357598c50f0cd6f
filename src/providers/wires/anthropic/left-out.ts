import type { Generation } from '../../../generation/request.ts'
import type { Fields } from '../../../lib/json.ts'
import type { Warn } from '../wire.ts'

/** Says in one sentence which properties of the request have no equal at Anthropic. */
export function tellLeftOut(generation: Generation, warn: Warn): void {
  const { choices = 1, seed, logitBias = {}, frequencyPenalty = 0, presencePenalty = 0 } = generation
  const asked: Fields = {
    n: choices > 1 ? choices : undefined,
    seed,
    logit_bias: Object.keys(logitBias).length > 0 ? logitBias : undefined,
    frequency_penalty: frequencyPenalty === 0 ? undefined : frequencyPenalty,
    presence_penalty: presencePenalty === 0 ? undefined : presencePenalty,
    ...generation.extras,
  }
  tellNames('', asked, warn)
}

/** Says in one sentence which unnamed properties of a message or a part were left out. */
export function tellExtras(place: string, extras: Fields | undefined, warn: Warn): void {
  if (extras) tellNames(`${place}.`, extras, warn)
}

function tellNames(prefix: string, fields: Fields, warn: Warn): void {
  const names = Object.keys(fields).filter((name) => saysSomething(fields[name]))
  if (names.length === 0) return
  const were = names.length === 1 ? 'it was' : 'they were'
  warn(`anthropic takes no ${names.map((name) => prefix + name).join(', ')}; ${were} left out.`)
}

/** Clients send back whole messages, with the empty fields that they came with. */
function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

import type { Generation, Message, Part } from '../../../generation/request.ts'
import type { Fields } from '../../../lib/json.ts'
import type { Warn } from '../wire.ts'

/** Says which parameters and properties of the request have no place in the Responses API. */
export function warnOfLosses(generation: Generation, warn: Warn): void {
  for (const name of lostParameters(generation)) warn(`The Responses API takes no ${name}; it was left out.`)
  const extras = namesIn(generation.extras).filter((name) => !carriedExtras.has(name))
  warnOf(extras, warn)
  warnOf([...new Set(generation.messages.flatMap(lostInMessage))], warn)
}

/** Properties that the Responses API knows too, the last of them inside `text`. */
const carriedExtras = new Set(['prompt_cache_key', 'safety_identifier', 'verbosity'])

function lostParameters(generation: Generation): string[] {
  const lost = {
    n: (generation.choices ?? 1) > 1,
    stop: (generation.stop ?? []).length > 0,
    seed: generation.seed !== undefined,
    frequency_penalty: (generation.frequencyPenalty ?? 0) !== 0,
    presence_penalty: (generation.presencePenalty ?? 0) !== 0,
    logit_bias: namesIn(generation.logitBias).length > 0,
  }
  return Object.entries(lost).flatMap(([name, asked]) => (asked ? [name] : []))
}

function lostInMessage(message: Message): string[] {
  const fields = namesIn({ ...message.extras, name: message.name })
  return [...fields.map((name) => `messages[].${name}`), ...message.parts.flatMap(lostInPart)]
}

function lostInPart(part: Part): string[] {
  return part.type === 'foreign' ? [] : namesIn(part.extras).map((name) => `messages[].content[].${name}`)
}

function namesIn(fields: Fields = {}): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined && fields[name] !== null)
}

/** One sentence for all of them. */
function warnOf(names: readonly string[], warn: Warn): void {
  if (names.length === 0) return
  const left = names.length === 1 ? 'it was' : 'they were'
  warn(`The Responses API takes no ${names.join(', ')}; ${left} left out.`)
}

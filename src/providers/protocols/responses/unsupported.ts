import type { Generation, Message } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'

/** The name of the protocol in warnings. */
export const responsesApi = 'the Responses API'

/** Warns of the parameters and properties of the request that the Responses API does not support. */
export function warnUnsupported(generation: Generation, warn: Warn): void {
  for (const [name, isUsed] of Object.entries(unsupportedParameters(generation)))
    if (isUsed) warn({ what: 'Parameter', name, by: responsesApi })
  for (const name of namesIn(generation.extras))
    if (!supportedExtras.has(name)) warn({ what: 'Parameter', name, by: responsesApi })
  for (const message of generation.messages) warnOfMessage(message, warn)
}

/** The extra properties that the Responses API supports, the last of them inside `text`. */
const supportedExtras = new Set(['prompt_cache_key', 'safety_identifier', 'verbosity'])

function unsupportedParameters(generation: Generation): Readonly<Record<string, boolean>> {
  return {
    n: (generation.choices ?? 1) > 1,
    stop: (generation.stop ?? []).length > 0,
    seed: generation.seed !== undefined,
    frequency_penalty: (generation.frequencyPenalty ?? 0) !== 0,
    presence_penalty: (generation.presencePenalty ?? 0) !== 0,
    logit_bias: namesIn(generation.logitBias).length > 0,
    logprobs: generation.logprobs !== undefined,
  }
}

function warnOfMessage({ extras, name, parts }: Message, warn: Warn): void {
  if (name !== undefined) warnOfProperties({ name }, 'messages[].', warn)
  if (extras) warnOfProperties(extras, 'messages[].', warn)
  for (const part of parts)
    if (part.type !== 'foreign' && part.extras) warnOfProperties(part.extras, 'messages[].content[].', warn)
}

function warnOfProperties(fields: Fields, within: string, warn: Warn): void {
  for (const name of namesIn(fields)) warn({ what: 'Property', name, within, by: responsesApi })
}

function namesIn(fields: Fields = {}): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined && fields[name] !== null)
}

import type { Generation } from '../../../domain/generation/request.ts'
import type { Warning } from '../../../domain/generation/warnings.ts'
import { type Fields, fieldsOf } from '../../../lib/json/json.ts'
import { knownProperties, type ResponseRequest } from './schema.ts'

/** Parameters of OpenAI's Responses API that have no equivalent in chat completions. */
const responsesOnly =
  'conversation prompt context_management moderation access_programs background_options image top_logprobs service_tier'

/** Parameters of chat completions that the Responses API does not have. */
const chatOnly =
  'messages max_tokens max_completion_tokens n stop seed logit_bias frequency_penalty presence_penalty logprobs ' +
  'response_format reasoning_effort functions function_call modalities audio prediction web_search_options ' +
  'performance_mode'

const unsupported = new Set(`${responsesOnly} ${chatOnly}`.split(' '))

/**
 * Ignored without a warning: the limit of calls counts only tools that the gateway would run, streams are not padded, and
 * the metadata of a client is for its own service.
 */
const withoutEffect = new Set(['max_tool_calls', 'stream_options', 'client_metadata'])

/** The values of unsupported parameters that request the default behaviour. */
const neutralValues: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['performance_mode', 'standard'],
])

/** The parameters that are passed to the provider unchanged: unknown ones that may mean the same in a chat completion. */
export function extrasOf(request: ResponseRequest): Fields {
  const fields: Fields = request
  const names = unknownParameters(fields).filter((name) => !unsupported.has(name) && !withoutEffect.has(name))
  const { verbosity } = fieldsOf(request.text)
  if (names.length === 0 && verbosity == null) return noExtras
  // `fromEntries` and not assignments: a key named `__proto__` stays a key.
  const extras = Object.fromEntries(names.map((name) => [name, fields[name]]))
  return verbosity == null ? extras : { ...extras, verbosity }
}

const noExtras: Fields = {}

/** The names of the unknown parameters that are ignored with a warning. */
function ignoredIn(request: ResponseRequest): readonly string[] {
  const fields: Fields = request
  return unknownParameters(fields).filter((name) => {
    if (name === 'service_tier') return tierOf(request) === undefined
    return unsupported.has(name) && fields[name] !== neutralValues.get(name)
  })
}

/** The requested service tier, if the gateway knows it. */
export function tierOf(request: ResponseRequest): Generation['serviceTier'] {
  const { service_tier: requested } = request as Fields
  return tiers.find((tier) => tier === requested)
}

const tiers = ['auto', 'default', 'flex', 'priority'] as const

/** The names of the parameters that are not in the schema; null counts as absent. */
function unknownParameters(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => !knownProperties.has(name) && fields[name] !== null)
}

/** Adds a warning to the response. */
export type Warn = (warning: Warning) => void

/** Warns of everything in the request that is ignored. */
export function warnOfIgnored(request: ResponseRequest, warn: Warn): void {
  for (const name of ignoredIn(request)) warn({ what: 'Parameter', name })
  const { truncation, include } = request
  if (truncation != null && truncation !== 'disabled') warn({ what: 'Parameter', name: 'truncation' })
  for (const name of include ?? []) if (name !== encryptedReasoning) warn({ what: 'Include value', name })
}

/** Whether the response includes the state of its reasoning. */
export function includesReasoning({ include }: ResponseRequest): boolean {
  return include?.includes(encryptedReasoning) === true
}

const encryptedReasoning = 'reasoning.encrypted_content'

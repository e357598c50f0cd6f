import type { Generation } from '../../../domain/generation/request.ts'
import type { Warning } from '../../../domain/generation/warnings.ts'
import { type Fields, fieldsOf } from '../../../lib/json/json.ts'
import { knownProperties, type ResponseRequest } from './schema.ts'

/** Properties of this API elsewhere that a chat completion cannot carry. */
const onlyElsewhere =
  'conversation prompt context_management moderation access_programs image top_logprobs service_tier'

/** Properties of chat completions that this API does not have. */
const onlyInChat =
  'messages max_tokens max_completion_tokens n stop seed logit_bias frequency_penalty presence_penalty logprobs ' +
  'response_format reasoning_effort functions function_call modalities audio prediction web_search_options ' +
  'performance_mode'

const withoutMeaning = new Set(`${onlyElsewhere} ${onlyInChat}`.split(' '))

/** Nothing is lost with these: there are no tools to call, and streams are not padded. */
const withoutEffect = new Set(['max_tool_calls', 'stream_options'])

/** What these ask for happens anyway. */
const neutral: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['performance_mode', 'standard'],
])

/** What goes to the provider as it is: unnamed properties that mean the same in a chat completion. */
export function extrasOf(request: ResponseRequest): Fields {
  const fields: Fields = request
  const names = unnamed(fields).filter((name) => !withoutMeaning.has(name) && !withoutEffect.has(name))
  const { verbosity } = fieldsOf(request.text)
  if (names.length === 0 && verbosity == null) return noExtras
  // `fromEntries` and not assignments: a key named `__proto__` stays a key.
  const extras = Object.fromEntries(names.map((name) => [name, fields[name]]))
  return verbosity == null ? extras : { ...extras, verbosity }
}

const noExtras: Fields = {}

/** The names of the properties that were asked for and go nowhere. */
export function ignoredIn(request: ResponseRequest): readonly string[] {
  const fields: Fields = request
  return unnamed(fields).filter((name) => {
    if (name === 'service_tier') return tierOf(request) === undefined
    return withoutMeaning.has(name) && fields[name] !== neutral.get(name)
  })
}

/** The service tier that was asked for, if it is one that this gateway knows. */
export function tierOf(request: ResponseRequest): Generation['serviceTier'] {
  const { service_tier: asked } = request as Fields
  return tiers.find((tier) => tier === asked)
}

const tiers = ['auto', 'default', 'flex', 'priority'] as const

/** The properties beyond the interface; null says nothing. */
function unnamed(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => !knownProperties.has(name) && fields[name] !== null)
}

/** Takes what the caller asked for and does not get. */
export type Warn = (warning: Warning) => void

/** Warns of what the request asks for that does not happen. */
export function warnOfIgnored(request: ResponseRequest, warn: Warn): void {
  for (const name of ignoredIn(request)) warn({ what: 'Parameter', name })
  const { truncation, include } = request
  if (truncation != null && truncation !== 'disabled') warn({ what: 'Parameter', name: 'truncation' })
  for (const name of include ?? []) warn({ what: 'Include value', name })
}

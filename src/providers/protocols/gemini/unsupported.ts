import type { Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import type { Dialect } from './dialect.ts'

/** Warns of the parameters of the request that Gemini does not support. */
export function warnUnsupported(
  generation: Generation,
  { name: by, serviceTier }: Dialect,
  warn: Warn,
): void {
  for (const [name, value] of Object.entries(generation.extras))
    if (value !== null && value !== undefined) warn({ what: 'Parameter', name, by })
  const { logitBias = {}, logprobs, user, parallelToolCalls, serviceTier: tier, tools } = generation
  const unsupported = {
    logit_bias: Object.keys(logitBias).length > 0,
    logprobs: logprobs !== undefined,
    user: user !== undefined,
    parallel_tool_calls: parallelToolCalls === false && tools.length > 0,
  }
  for (const [name, isUsed] of Object.entries(unsupported)) if (isUsed) warn({ what: 'Parameter', name, by })
  if (!serviceTier && (tier === 'flex' || tier === 'priority')) warn({ what: 'Service tier', name: tier, by })
  if (tools.some((tool) => tool.strict === true))
    warn({ what: 'Property', name: 'strict', within: 'tools[].function.', by })
}

/** Warns of the extra properties of a message or a part. */
export function warnUnsupportedProperties(
  fields: Fields | undefined,
  within: string,
  dialect: Dialect,
  warn: Warn,
): void {
  if (!fields) return
  for (const [name, value] of Object.entries(fields))
    if (value !== null && value !== undefined) warn({ what: 'Property', name, within, by: dialect.name })
}

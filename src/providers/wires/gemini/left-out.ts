import type { Generation } from '../../../generation/request.ts'
import type { Fields } from '../../../lib/json.ts'
import type { Warn } from '../wire.ts'
import type { Dialect } from './dialect.ts'

/** Says what of the question has no place in the request. */
export function warnOfLeftOut(generation: Generation, dialect: Dialect, warn: Warn): void {
  warnOfExtras(generation.extras, '', dialect, warn)
  const { logitBias, user, parallelToolCalls, serviceTier, tools } = generation
  const lost = {
    logit_bias: Object.keys(logitBias ?? {}).length > 0,
    user: user !== undefined,
    parallel_tool_calls: parallelToolCalls === false && tools.length > 0,
    service_tier: !dialect.serviceTier && (serviceTier === 'flex' || serviceTier === 'priority'),
    'tools[].function.strict': tools.some((tool) => tool.strict === true),
  }
  for (const [name, told] of Object.entries(lost)) {
    if (told) warn(`${dialect.name} takes no ${name}; it was left out.`)
  }
}

/** One sentence for all properties that only the caller knows. */
export function warnOfExtras(extras: Fields | undefined, place: string, dialect: Dialect, warn: Warn): void {
  const names = Object.entries(extras ?? {}).flatMap(([name, value]) => {
    return value === null || value === undefined ? [] : [place + name]
  })
  if (names.length === 1) warn(`${dialect.name} takes no ${names[0]}; it was left out.`)
  if (names.length > 1) warn(`${dialect.name} takes no ${names.join(', ')}; they were left out.`)
}

import type { Effort, Generation } from '../../../../domain/generation/request.ts'
import type { Body, Target, Warn } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/** Groq: one choice, plain messages, and efforts by the family of the model. */
export const groq: Dialect = {
  name: 'groq',
  unsupported: new Set(['n', 'logit_bias', 'logprobs', 'top_logprobs']),
  plainMessages: true,
  effort,
  adapt,
}

function effort(effort: Effort, target: Target): Body | undefined {
  const { model } = target
  if (model.includes('gpt-oss')) return { reasoning_effort: toThreeEfforts(effort) }
  if (model.includes('qwen3')) return { reasoning_effort: effort === 'none' ? 'none' : 'default' }
  return target.efforts ? { reasoning_effort: effort } : undefined
}

function toThreeEfforts(effort: Effort): Effort {
  if (effort === 'none' || effort === 'minimal') return 'low'
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort
}

const tiers: Body = { auto: 'auto', default: 'on_demand', flex: 'flex' }

function adapt(body: Body, generation: Generation, target: Target, warn: Warn): Body {
  const { serviceTier } = generation
  if (serviceTier === 'priority') warn({ what: 'Service tier', name: serviceTier, by: 'groq' })
  const service_tier = serviceTier && tiers[serviceTier]
  // By default, these models write their reasoning into the text.
  const reasoningFormat = /qwen3|deepseek-r1/.test(target.model) ? { reasoning_format: 'parsed' } : {}
  return { ...reasoningFormat, ...body, service_tier }
}

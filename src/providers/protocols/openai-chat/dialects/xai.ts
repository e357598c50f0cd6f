import type { Effort } from '../../../../domain/generation/request.ts'
import type { Target } from '../../protocol.ts'
import type { Body, Dialect } from '../dialect.ts'

/** xAI: its reasoning models take no stop and no penalties, and efforts by their generation. */
export const xai: Dialect = { name: 'xai', refusedByModel, effort }

function refusedByModel({ model }: Target): readonly string[] {
  const reasons = /grok-(4(?!.*non-reasoning)|3-mini|code)/.test(model)
  return reasons ? ['stop', 'presence_penalty', 'frequency_penalty'] : []
}

function effort(effort: Effort, { model, efforts }: Target): Body | undefined {
  if (efforts) return { reasoning_effort: effort }
  if (model.includes('grok-3-mini')) return { reasoning_effort: lowest(effort) ? 'low' : 'high' }
  // Models of the first grok-4 generation always reason, and refuse the field.
  if (!/grok-4\.[3-9]/.test(model)) return undefined
  if (effort === 'none' && model.includes('grok-4.3')) return { reasoning_effort: 'none' }
  if (effort === 'medium') return { reasoning_effort: 'medium' }
  return { reasoning_effort: lowest(effort) ? 'low' : 'high' }
}

function lowest(effort: Effort): boolean {
  return effort === 'none' || effort === 'minimal' || effort === 'low'
}

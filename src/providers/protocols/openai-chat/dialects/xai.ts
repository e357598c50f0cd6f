import type { Effort } from '../../../../domain/generation/request.ts'
import type { Body, Target } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/** xAI: its reasoning models support neither stop nor penalties; their efforts depend on the generation. */
export const xai: Dialect = { name: 'xai', unsupportedByModel, effort }

function unsupportedByModel({ model }: Target): readonly string[] {
  const reasons = /grok-(4(?!.*non-reasoning)|3-mini|code)/.test(model)
  return reasons ? ['stop', 'presence_penalty', 'frequency_penalty'] : []
}

function effort(effort: Effort, { model, efforts }: Target): Body | undefined {
  if (efforts) return { reasoning_effort: effort }
  if (model.includes('grok-3-mini')) return { reasoning_effort: isLow(effort) ? 'low' : 'high' }
  // Models of the first grok-4 generation always reason, and reject the field.
  if (!/grok-4\.[3-9]/.test(model)) return undefined
  if (effort === 'none' && model.includes('grok-4.3')) return { reasoning_effort: 'none' }
  if (effort === 'medium') return { reasoning_effort: 'medium' }
  return { reasoning_effort: isLow(effort) ? 'low' : 'high' }
}

function isLow(effort: Effort): boolean {
  return effort === 'none' || effort === 'minimal' || effort === 'low'
}

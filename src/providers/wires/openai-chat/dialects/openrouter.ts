import type { Effort } from '../../../../generation/request.ts'
import type { Target } from '../../wire.ts'
import type { Body, Dialect } from '../dialect.ts'

/** OpenRouter: reasoning is an object of its own, and its details belong to the next turn of a tool loop. */
export const openrouter: Dialect = {
  name: 'openrouter',
  effort,
  echo: { on: 'message', field: 'reasoning_details' },
}

function effort(effort: Effort, target: Target): Body {
  if (effort === 'none') return { reasoning: { enabled: false } }
  const known = effort !== 'max' || target.efforts?.includes('max')
  return { reasoning: { effort: known ? effort : 'xhigh' } }
}

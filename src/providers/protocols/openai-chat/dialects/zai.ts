import type { Effort } from '../../../../domain/generation/request.ts'
import type { Target } from '../../protocol.ts'
import type { Body, Dialect } from '../dialect.ts'

/** Z.ai: thinking is a switch; only models that are known to have efforts are told one. */
export const zai: Dialect = {
  name: 'zai',
  refused: new Set(['n', 'logit_bias', 'frequency_penalty', 'presence_penalty']),
  noDeveloper: true,
  effort,
}

function effort(effort: Effort, target: Target): Body {
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  const steps = target.efforts && target.efforts.length > 1 ? { reasoning_effort: effort } : {}
  return { thinking: { type: 'enabled' }, ...steps }
}

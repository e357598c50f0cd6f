import type { Effort } from '../../../../domain/generation/request.ts'
import { nameSet } from '../../../../lib/text.ts'
import type { Body, Target } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/**
 * Z.ai: thinking is enabled or disabled; an effort is sent only to models that are known to support it. They think between
 * calls of tools too, and are to have their earlier thoughts back: https://docs.z.ai/guides/capabilities/thinking-mode.
 */
export const zai: Dialect = {
  name: 'zai',
  unsupported: nameSet('n logit_bias frequency_penalty presence_penalty logprobs top_logprobs'),
  noDeveloperRole: true,
  reasoningField: 'reasoning_content',
  effort,
}

function effort(effort: Effort, target: Target): Body {
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  // A model that can only enable or disable thinking has one effort beside none.
  const levels = target.efforts?.filter((level) => level !== 'none') ?? []
  const effortField = levels.length > 1 ? { reasoning_effort: effort } : {}
  return { thinking: { type: 'enabled' }, ...effortField }
}

import type { Effort, Generation } from '../../../../domain/generation/request.ts'
import { fieldsOf, listOf } from '../../../../lib/json/json.ts'
import type { Target, Warn } from '../../protocol.ts'
import type { Body, Dialect } from '../dialect.ts'

/** OpenRouter: reasoning is an object of its own, and its details belong to the next turn of a tool loop. */
export const openrouter: Dialect = {
  name: 'openrouter',
  effort,
  adapt,
  echo: { on: 'message', field: 'reasoning_details' },
}

function effort(effort: Effort, target: Target): Body {
  if (effort === 'none') return { reasoning: { enabled: false } }
  const known = effort !== 'max' || target.efforts?.includes('max')
  return { reasoning: { effort: known ? effort : 'xhigh' } }
}

/** Google's newer models refuse a tool turn of which the reasoning was lost, unless it says that it was. */
function adapt(body: Body, _generation: Generation, { model }: Target, warn: Warn): Body {
  if (!/gemini-3/.test(model)) return body
  const messages = listOf(body.messages).map((message) => withReasoning(fieldsOf(message), warn))
  return { ...body, messages }
}

function withReasoning(message: Body, warn: Warn): Body {
  const [first] = listOf(message.tool_calls)
  if (first === undefined || message.reasoning_details !== undefined) return message
  warn('The reasoning behind an earlier tool call is not known here; openrouter goes on without it.')
  const { id } = fieldsOf(first)
  const lost = { type: 'reasoning.encrypted', data: unsigned, id, format: 'google-gemini-v1', index: 0 }
  return { ...message, reasoning_details: [lost] }
}

/** Google's own word for a call of which no signature is known. */
const unsigned = 'skip_thought_signature_validator'

import type { Effort, Generation } from '../../../../domain/generation/request.ts'
import { fieldsOf, listOf } from '../../../../lib/json/json.ts'
import type { Body, Target, Warn } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/** OpenRouter: reasoning is an object of its own, and the next turn of a tool loop needs its details. */
export const openrouter: Dialect = {
  name: 'openrouter',
  effort,
  adapt,
  cacheControl: true,
  stateField: { on: 'message', field: 'reasoning_details' },
}

function effort(effort: Effort, target: Target): Body {
  if (effort === 'none') return { reasoning: { enabled: false } }
  const isSupported = effort !== 'max' || target.efforts?.includes('max')
  return { reasoning: { effort: isSupported ? effort : 'xhigh' } }
}

/** Google's newer models reject a tool turn whose reasoning is missing, unless a placeholder marks it as skipped. */
function adapt(body: Body, _generation: Generation, { model }: Target, warn: Warn): Body {
  if (!/gemini-3/.test(model)) return body
  const messages = listOf(body.messages).map((message) => withReasoning(fieldsOf(message), warn))
  return { ...body, messages }
}

function withReasoning(message: Body, warn: Warn): Body {
  const [first] = listOf(message.tool_calls)
  if (first === undefined || message.reasoning_details !== undefined) return message
  warn('The reasoning of an earlier tool call is not available; openrouter continues without it.')
  const { id } = fieldsOf(first)
  const placeholder = {
    type: 'reasoning.encrypted',
    data: skipSignature,
    id,
    format: 'google-gemini-v1',
    index: 0,
  }
  return { ...message, reasoning_details: [placeholder] }
}

/** Google's documented placeholder for a missing signature. */
const skipSignature = 'skip_thought_signature_validator'

import type { Effort, Format, Generation } from '../../../../domain/generation/request.ts'
import { fieldsOf, listOf } from '../../../../lib/json/json.ts'
import type { Body, Target, Warn } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/** DeepSeek: no JSON schemas, thinking is enabled or disabled, and the next turn needs the reasoning of a tool turn. */
export const deepseek: Dialect = {
  name: 'deepseek',
  unsupported: new Set(['n', 'logit_bias', 'service_tier']),
  noDeveloperRole: true,
  effort,
  adapt,
  stateField: { on: 'message', field: 'reasoning_content' },
}

/** DeepSeek accepts every effort and maps those that it does not have. */
function effort(effort: Effort): Body {
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  return { thinking: { type: 'enabled' }, reasoning_effort: effort }
}

function adapt(body: Body, generation: Generation, _target: Target, warn: Warn): Body {
  const { format, effort } = generation
  const rendered = listOf(body.messages)
  const messages =
    effort === 'none' ? rendered : rendered.map((message) => withReasoning(fieldsOf(message), warn))
  if (format?.type !== 'json_schema') return { ...body, messages }
  warn(
    '`response_format` `json_schema` is not supported by deepseek; the model was instructed to follow the schema instead.',
  )
  const instruction = { role: 'system', content: schemaInstruction(format) }
  return { ...body, messages: [instruction, ...messages], response_format: { type: 'json_object' } }
}

/** In thinking mode DeepSeek rejects a tool turn without its reasoning, and accepts an empty one. */
function withReasoning(message: Body, warn: Warn): Body {
  if (message.tool_calls === undefined || typeof message.reasoning_content === 'string') return message
  warn('The reasoning of an earlier tool call is not available; deepseek continues without it.')
  return { ...message, reasoning_content: '' }
}

/** DeepSeek rejects `json_object` unless the prompt contains the word JSON. */
function schemaInstruction(format: Format & { type: 'json_schema' }): string {
  const { name, description, schema } = format
  const purpose = description === undefined ? name : `${name} (${description})`
  return `Answer with one JSON object only: ${purpose}. It must follow this JSON Schema:\n${JSON.stringify(schema)}`
}
